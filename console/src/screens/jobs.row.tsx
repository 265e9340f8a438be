// One job in the list of all.

import { Rate } from "../charts/rate";
import { Sparkline } from "../charts/sparkline";
import { now } from "../clock";
import { canManage } from "../me";
import { dollars } from "../money";
import { href } from "../route";
import { Time, written } from "../time";
import { StatusBadge } from "../ui/status";
import type { Status } from "../words/shared";
import { JobSwitch, RunNow } from "./jobs.acts";
import { called, isRunning, type Job, RUNS } from "./jobs.data";
import type { JobRate } from "./jobs.rates";
import { mine } from "./jobs.words";

interface JobRowProps {
  job: Job;
  rate?: JobRate;
  /** Its place in a table of which only a part is in the page. */
  index?: number;
  measure?: (row: HTMLElement | null) => void;
}

export function JobRow({ job, rate, index, measure }: JobRowProps) {
  const mayChange = job.enabled && canManage("jobs:manage", job.tenant_id);
  return (
    <tr
      class={job.enabled ? undefined : "is-over"}
      ref={measure}
      data-index={index}
      aria-rowindex={index === undefined ? undefined : index + 2}
    >
      <td>
        <Name job={job} />
      </td>
      <td data-label={mine("cadence")}>
        <Cadences job={job} />
      </td>
      <td data-label={mine("next")}>
        <Next job={job} />
      </td>
      <td data-label={mine("last_runs")}>
        <Runs job={job} rate={rate} />
      </td>
      <td data-label={mine("last")}>
        <Last job={job} />
      </td>
      <td data-label={mine("active")}>
        <span class="job-acts">
          {mayChange ? <JobSwitch job={job} /> : <Standing job={job} />}
          {mayChange && <RunNow job={job} />}
        </span>
      </td>
    </tr>
  );
}

/** The last runs; of a job with more runs within an hour than there is room for, the counts of that hour. */
function Runs({ job, rate }: { job: Job; rate?: JobRate }) {
  const label = mine("runs_of", { job: called(job) });
  if (rate && rate.n > RUNS) {
    return (
      <span class="job-cell">
        <Rate {...rate} label={label} />
        <small>{mine("in_an_hour", { n: rate.n })}</small>
      </span>
    );
  }
  return job.recent_runs && <Sparkline runs={job.recent_runs} label={label} />;
}

function Name({ job }: { job: Job }) {
  return (
    <span class="job-name">
      <span class="chips">
        <a href={href("jobs", job.name)}>{called(job)}</a>
        {job.origin === "runtime" && <span class="chip">{mine("registered")}</span>}
        {!job.enabled && <span class="chip">{mine("removed")}</span>}
      </span>
      {job.title && <code class="muted">{job.name}</code>}
      {job.dollars_per_month !== null && (
        <small>{mine("price", { dollars: dollars(job.dollars_per_month) })}</small>
      )}
      {job.paused && <Paused pause={job.paused} />}
    </span>
  );
}

function Cadences({ job }: { job: Job }) {
  if (job.cadences.length === 0) return <span class="muted">{mine("by_hand")}</span>;
  return (
    <ul class="bare cadence-words">
      {job.cadences.map((each) => (
        <li key={each.name} title={each.text}>
          <span lang="en">{each.words}</span>{" "}
          {each.paused && <span class="chip is-warned">{mine("paused").toLocaleLowerCase()}</span>}
        </li>
      ))}
    </ul>
  );
}

function Next({ job }: { job: Job }) {
  return (
    <span class="job-cell">
      {job.running && (
        <a href={href("actions", job.running)}>
          {isRunning(job) ? (
            <StatusBadge status="processing" label={mine("running_now")} />
          ) : (
            <StatusBadge status="retrying" />
          )}
        </a>
      )}
      {job.next_due_at ? (
        <>
          {Date.parse(job.next_due_at) > now.value ? (
            <Time at={job.next_due_at} as="away" />
          ) : (
            mine("due_now")
          )}
          <small>
            <Time at={job.next_due_at} />
          </small>
        </>
      ) : (
        <span class="muted">{mine("no_next")}</span>
      )}
    </span>
  );
}

function Paused({ pause }: { pause: NonNullable<Job["paused"]> }) {
  return (
    <small class="job-pause">
      {mine("paused_by", { by: pause.by })}
      {pause.until && ` ${mine("paused_until", { until: written(pause.until, "short") })}`}
      {pause.reason && ` · ${pause.reason}`}
    </small>
  );
}

function Last({ job }: { job: Job }) {
  const last = lastOf(job);
  if (!last) return <span class="muted">{mine("not_yet")}</span>;
  const badge = last.status && <StatusBadge status={last.status as Status} />;
  return (
    <span class="job-cell">
      {last.id ? <a href={href("actions", last.id)}>{badge}</a> : badge}
      <small>
        <Time at={last.at} as="away" />
      </small>
      {job.consecutive_failures > 1 && (
        <small class="job-failing">{mine("in_a_row", { n: job.consecutive_failures })}</small>
      )}
    </span>
  );
}

/** The run that ended last; of a job that keeps no count of its runs, the newest that has ended. */
function lastOf(job: Job) {
  if (job.last_run) return { ...job.last_run, at: job.last_run.started_at };
  const run = job.recent_runs?.find((each) => each.finished_at !== null);
  return run && { ...run, at: run.finished_at ?? run.nominal_at };
}

function Standing({ job }: { job: Job }) {
  if (!job.enabled) return <span class="muted">–</span>;
  return <span class="chip">{mine(job.paused ? "paused" : "active").toLocaleLowerCase()}</span>;
}
