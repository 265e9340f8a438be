// How a job fares: what is wrong with it, and its state at a glance.

import type { ComponentChildren } from "preact";
import type { Schemas } from "../../api";
import { href } from "../../route";
import { Time } from "../../time";
import { StatusBadge } from "../../ui/status";
import { type Status, STATUSES } from "../../words/shared";
import type { Job } from "./accounts";
import { say } from "./head.words";

export function Notices({ job }: { job: Job }) {
  const failures = job.consecutive_failures;
  const [gone, kept] = say("gone", { at: "\n" }).split("\n");
  return (
    <>
      {job.disabled_at && (
        <p class="notice is-cancelled">
          {gone}
          <Time at={job.disabled_at} as="short" />
          {kept}
        </p>
      )}
      {job.paused && (
        <div class="notice is-cancelled">
          <PauseText pause={job.paused} />
        </div>
      )}
      {failures > 0 && (
        <div class="notice is-failed">
          <p>
            <span aria-hidden="true">✕</span> <strong>{say("streak", { n: failures })}</strong>
          </p>
          {job.tally.last_error && (
            <p class="mono" lang="en">
              {job.tally.last_error}
            </p>
          )}
          {failures < job.failure_threshold && (
            <p class="muted">{say("threshold", { n: job.failure_threshold })}</p>
          )}
        </div>
      )}
    </>
  );
}

/** Who paused it, since when, until when and why. */
export function PauseText({ pause }: { pause: Schemas["PauseView"] }) {
  const [before, after] = say("paused_by", { who: pause.by, at: "\n" }).split("\n");
  const [till, rest] = say("until", { at: "\n" }).split("\n");
  return (
    <p>
      <span aria-hidden="true">❚❚</span> {before}
      <Time at={pause.since} as="short" />
      {after},{" "}
      {pause.until ? (
        <>
          {till}
          <Time at={pause.until} as="short" />
          {rest}
        </>
      ) : (
        say("until_resumed")
      )}
      {pause.reason && <q class="pause-reason">{pause.reason}</q>}
    </p>
  );
}

export function Glance({ job }: { job: Job }) {
  const { last_run: last, next_due_at: next } = job;
  const status = STATUSES.find((each) => each === last?.status) as Status | undefined;
  return (
    <div class="cards glances">
      <Card label={say("next")}>
        {next ? (
          <>
            <p class="job-glance">
              <Time at={next} as="away" />
            </p>
            <small>
              <Time at={next} as="full" />
            </small>
          </>
        ) : (
          <p class="job-glance muted">{say("nothing")}</p>
        )}
      </Card>
      <Card label={say("running")}>
        {job.running ? (
          <p class="job-glance">
            <a href={href("actions", job.running)} title={job.running}>
              {say("open")}
            </a>
          </p>
        ) : (
          <p class="job-glance muted">{say("nothing")}</p>
        )}
        {job.waiting && (
          <small>
            {say("waiting")}:{" "}
            <a href={href("actions", job.waiting)} title={job.waiting}>
              {say("open")}
            </a>
          </small>
        )}
      </Card>
      <Card label={say("last")}>
        {last ? (
          <>
            <p class="job-glance">{status ? <StatusBadge status={status} /> : last.status}</p>
            <small>
              {last.id ? (
                <a href={href("actions", last.id)} title={last.id}>
                  <Time at={last.started_at} as="away" />
                </a>
              ) : (
                <Time at={last.started_at} as="away" />
              )}
            </small>
          </>
        ) : (
          <p class="job-glance muted">{say("nothing")}</p>
        )}
      </Card>
      <Card label={say("tally")}>
        <p>{say("tally_of", { executed: job.tally.executed, failed: job.tally.failed })}</p>
        {job.tally.triggered_by && (
          <small>
            {say("triggered_by")} {job.tally.triggered_by}
          </small>
        )}
      </Card>
    </div>
  );
}

function Card({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <div class="card glance-card">
      <p class="muted">{label}</p>
      {children}
    </div>
  );
}
