// Pausing a job, or one of its cadences, and ending that.

import { api, call, type Schemas } from "../../api";
import { written, zone } from "../../time";
import { Act, Field } from "../../ui/act";
import type { Job } from "./accounts";
import { say } from "./acts.words";
import { instantOf } from "./days";

type Pause = Schemas["PauseView"];

interface Which {
  job: Job;
  /** One of its cadences; the whole job without it. */
  cadence?: Schemas["CadenceView"];
}

/** The button that pauses it, or ends its pause. */
export function PauseAct({ job, cadence }: Which) {
  const paused = cadence ? cadence.paused : job.paused;
  return paused ? (
    <Resume job={job} cadence={cadence} pause={paused} />
  ) : (
    <PauseIt job={job} cadence={cadence} />
  );
}

function PauseIt({ job, cadence }: Which) {
  const name = cadence?.name ?? job.name;
  return (
    <Act
      label={say("pause")}
      name={cadence && say("pause_of", { name })}
      kind={cadence ? "quiet" : "plain"}
      ask={{
        title: say("pause_title", { name }),
        body: (
          <>
            <p>{say(cadence ? "pause_cadence" : "pause_job")}</p>
            <Field label={say("reason")} hint={say("reason_hint")}>
              <input name="reason" maxLength={200} autoComplete="off" />
            </Field>
            <Field label={say("until")} hint={say("until_hint", { zone: zone.value })}>
              <input name="until" type="datetime-local" />
            </Field>
          </>
        ),
        go: say("pause"),
      }}
      run={async (form) => {
        const field = String(form.get("until") ?? "");
        const until = field ? instantOf(field) : null;
        await pause(job.name, cadence?.name, String(form.get("reason") ?? ""), until);
        return {
          text: until ? say("paused_until", { name, at: written(until) }) : say("paused", { name }),
          undo: () => resume(job.name, cadence?.name),
        };
      }}
    />
  );
}

function Resume({ job, cadence, pause: { reason, until } }: Which & { pause: Pause }) {
  const name = cadence?.name ?? job.name;
  return (
    <Act
      label={say("resume")}
      name={cadence && say("resume_of", { name })}
      kind={cadence ? "plain" : "main"}
      run={async () => {
        await resume(job.name, cadence?.name);
        return {
          text: say("resumed", { name }),
          undo: () => pause(job.name, cadence?.name, reason, until),
        };
      }}
    />
  );
}

function pause(name: string, cadence: string | undefined, reason: string, until: string | null) {
  const body = { cadence: cadence ?? null, reason, until };
  return call(api.POST("/jobs/{name}/pause", { params: { path: { name } }, body }));
}

function resume(name: string, cadence: string | undefined) {
  const body = { cadence: cadence ?? null };
  return call(api.POST("/jobs/{name}/resume", { params: { path: { name } }, body }));
}
