// What may be done to a job: run it now, skip its next run, pause it, unregister it.

import { api, call } from "../../api";
import { canManage } from "../../me";
import { href } from "../../route";
import { Time, written } from "../../time";
import { Act } from "../../ui/act";
import { say as editor } from "../job-editor.words";
import type { Job } from "./accounts";
import { say } from "./acts.words";
import { BackfillAct } from "./backfills";
import { PauseAct } from "./pauses";
import { RunNow } from "./trigger";

export function Acts({ job }: { job: Job }) {
  if (!job.enabled || !canManage("jobs:manage", job.tenant_id)) return null;
  return (
    <>
      {job.origin === "runtime" && <Unregister job={job} />}
      {job.origin === "runtime" && (
        <a class="act" href={href("job-editor", { job: job.name })}>
          {editor("edit_act")}
        </a>
      )}
      {!job.paused && job.next_runs.length > 0 && <SkipNext job={job} />}
      {!job.paused && job.next_runs.length > 0 && <BackfillAct job={job} />}
      <PauseAct job={job} />
      <RunNow job={job} />
    </>
  );
}

function SkipNext({ job }: { job: Job }) {
  const [next, then] = job.next_runs;
  // What a paused cadence has planned already comes before it, and is not what is meant.
  const isPaused = job.cadences.some((each) => each.paused);
  const cadence = isPaused ? (next?.cadences[0] ?? null) : null;
  return (
    <Act
      label={say("skip")}
      ask={{
        title: say("skip_title"),
        body: (
          <>
            <dl class="facts">
              <dt>{say("skip_is")}</dt>
              <dd>{next && <Instant at={next.at} />}</dd>
              <dt>{say("skip_then")}</dt>
              <dd>{then ? <Instant at={then.at} /> : say("skip_none")}</dd>
            </dl>
            <p class="muted">{say("skip_once")}</p>
          </>
        ),
        go: say("skip_go"),
      }}
      run={async () => {
        const skipped = await call(
          api.POST("/jobs/{name}/skip-next", {
            params: { path: { name: job.name } },
            body: { cadence },
          }),
        );
        return say("skipped", { at: written(skipped.nominal_at) });
      }}
    />
  );
}

function Instant({ at }: { at: string }) {
  return (
    <>
      <Time at={at} as="full" />{" "}
      <span class="muted">
        (<Time at={at} as="away" />)
      </span>
    </>
  );
}

function Unregister({ job }: { job: Job }) {
  return (
    <Act
      label={say("unregister")}
      kind="danger"
      ask={{
        title: say("unregister_title", { name: job.name }),
        body: (
          <>
            <p>{say("unregister_what")}</p>
          </>
        ),
        go: say("unregister"),
      }}
      run={async () => {
        await call(api.DELETE("/jobs/{name}", { params: { path: { name: job.name } } }));
        return say("unregistered", { name: job.name });
      }}
    />
  );
}
