// Running a job now: with its own payload, or another one.

import { useState } from "preact/hooks";
import { api, call } from "../../api";
import { isObject, readJson, writeJson } from "../../json";
import { Act } from "../../ui/act";
import { Flawed, Unusable } from "../../ui/dialog";
import type { Job } from "./accounts";
import { overlap, say } from "./acts.words";

const REDACTED = "[redacted]";

export function RunNow({ job }: { job: Job }) {
  return (
    <Act
      label={say("run")}
      kind="main"
      ask={{
        title: say("run_title", { name: job.name }),
        body: (flaws) => <Fields job={job} flaw={flaws.payload} />,
        go: say("run_go"),
        fields: ["payload"],
      }}
      run={async (form) => {
        const given = payloadOf(String(form.get("payload") ?? ""), prefilled(job));
        await call(
          api.POST("/jobs/{name}/trigger", {
            params: { path: { name: job.name } },
            body: { payload: given },
          }),
        );
        return say("ran", { name: job.name });
      }}
    />
  );
}

function Fields({ job, flaw }: { job: Job; flaw: string | undefined }) {
  const [first] = useState(() => prefilled(job));
  return (
    <>
      <p>{say("run_what")}</p>
      {job.running && <p>{say("run_busy", { overlap: overlap(job.overlap) })}</p>}
      <Flawed label={say("payload")} hint={say(first ? "payload_hint" : "payload_empty")} flaw={flaw}>
        <textarea
          name="payload"
          dir="auto"
          class="mono"
          rows={Math.min(12, Math.max(3, first.split("\n").length))}
          defaultValue={first}
          spellcheck={false}
        />
      </Flawed>
    </>
  );
}

function prefilled(job: Job): string {
  return job.payload === null || job.payload === undefined ? "" : writeJson(job.payload, 2);
}

/** What the run is to be given; null for the job's own. */
function payloadOf(text: string, own: string): Record<string, unknown> | null {
  if (!text.trim() || text.replaceAll("\r", "") === own) return null;
  if (text.includes(REDACTED)) throw new Unusable({ payload: say("payload_redacted") });
  let given: unknown;
  try {
    given = readJson(text);
  } catch (error) {
    throw new Unusable({ payload: say("payload_not", { problem: String((error as Error).message) }) });
  }
  if (!isObject(given)) throw new Unusable({ payload: say("payload_object") });
  return given;
}
