// Running a job now: with its own payload, or another one.

import { useId, useState } from "preact/hooks";
import { api, call } from "../../api";
import { Act, Field } from "../../ui/act";
import type { Job } from "./accounts";
import { overlap, say } from "./acts.words";
import { Flawed, FlawText, useFlaw } from "./flaw";

const REDACTED = "[redacted]";

export function RunNow({ job }: { job: Job }) {
  const { text, guard } = useFlaw();
  return (
    <Act
      label={say("run")}
      kind="main"
      ask={{
        title: say("run_title", { name: job.name }),
        body: <Fields job={job} flaw={text} />,
        go: say("run_go"),
      }}
      run={(form) =>
        guard(async () => {
          const given = payloadOf(String(form.get("payload") ?? ""), prefilled(job));
          await call(
            api.POST("/background-jobs/{name}/trigger", {
              params: { path: { name: job.name } },
              body: { payload: given },
            }),
          );
          return say("ran", { name: job.name });
        })
      }
    />
  );
}

function Fields({ job, flaw }: { job: Job; flaw: string | null }) {
  const [first] = useState(() => prefilled(job));
  const id = useId();
  return (
    <>
      <p>{say("run_what")}</p>
      {job.running && <p>{say("run_busy", { overlap: overlap(job.overlap) })}</p>}
      <Field label={say("payload")} hint={say(first ? "payload_hint" : "payload_empty")}>
        <textarea
          name="payload"
          class="mono"
          rows={Math.min(12, Math.max(3, first.split("\n").length))}
          defaultValue={first}
          spellcheck={false}
          aria-invalid={flaw !== null}
          aria-describedby={flaw === null ? undefined : id}
        />
      </Field>
      <div id={id}>
        <FlawText text={flaw} />
      </div>
    </>
  );
}

function prefilled(job: Job): string {
  return job.payload === null || job.payload === undefined ? "" : JSON.stringify(job.payload, null, 2);
}

/** What the run is to be given; null for the job's own. */
function payloadOf(text: string, own: string): Record<string, unknown> | null {
  if (!text.trim() || text.replaceAll("\r", "") === own) return null;
  if (text.includes(REDACTED)) throw new Flawed(say("payload_redacted"));
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch (error) {
    throw new Flawed(say("payload_not", { problem: String((error as Error).message) }));
  }
  if (typeof given !== "object" || given === null || Array.isArray(given))
    throw new Flawed(say("payload_object"));
  return given as Record<string, unknown>;
}
