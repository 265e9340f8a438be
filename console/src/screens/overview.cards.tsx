// What to look at, in numbers; each leads to the list that it counts.

import type { ComponentChildren } from "preact";
import type { QueryResult } from "../query";
import { can } from "../me";
import type { Gathered } from "../pages";
import { href } from "../route";
import { brief } from "../time";
import { number } from "../words";
import { type StatusFilter, say, statusOf } from "../words/shared";
import type { JobCounts, State } from "./jobs.data";
import { type Action, type Health, useActive } from "./overview.data";
import { mine } from "./overview.words";

interface CardsProps {
  jobs: QueryResult<JobCounts | null>;
  health: QueryResult<Health | null>;
  failed: QueryResult<Gathered<Action> | null>;
}

export function Cards({ jobs, health, failed }: CardsProps) {
  const kept = health.value?.undelivered;
  const ofJobs = asOf(jobs);
  return (
    <section class="cards counts" aria-label={mine("at_a_glance")}>
      {can("actions:read", "jobs:read") && <Active jobs={jobs} />}
      {can("actions:read") && (
        <Card
          title={mine("failed_today")}
          to={href("dead-letters")}
          count={failed.value?.items.length}
          more={failed.value?.more}
          asOf={asOf(failed)}
          isBad
          hint={mine("failed_hint")}
        />
      )}
      {can("system") && (
        <Card
          title={say("undelivered")}
          to={href("undelivered")}
          count={kept?.count}
          more={kept?.more}
          asOf={asOf(health)}
          isBad
          hint={mine("undelivered_hint")}
        />
      )}
      {can("jobs:read") && (
        <>
          <Card
            title={mine("failing")}
            to={href("jobs", { only: "failing" })}
            count={jobs.value?.failing}
            more={jobs.value?.more}
            asOf={ofJobs}
            isBad
            hint={mine("failing_hint")}
          />
          <Card
            title={mine("paused")}
            to={href("jobs", { only: "paused" })}
            count={jobs.value?.paused}
            more={jobs.value?.more}
            asOf={ofJobs}
            hint={mine("paused_hint")}
          />
        </>
      )}
    </section>
  );
}

/** What runs, and what failed and waits for its next attempt: one-shots and jobs. */
function Active({ jobs }: { jobs: QueryResult<JobCounts | null> }) {
  const actions = useActive();
  return (
    <>
      <OfBoth title={mine("running")} actions={actions} jobs={jobs} status="processing" only="running" />
      <OfBoth title={mine("retrying")} actions={actions} jobs={jobs} status="retrying" only="retrying" />
    </>
  );
}

interface OfBothProps {
  title: string;
  actions: QueryResult<Gathered<Action> | null>;
  jobs: QueryResult<JobCounts | null>;
  /** The filter of the list of actions, and that of the list of jobs. */
  status: StatusFilter;
  only: State;
}

function OfBoth({ title, actions: live, jobs, status, only }: OfBothProps) {
  const actions = live.value?.items.filter((each) => statusOf(each) === status).length ?? 0;
  const ofJobs = jobs.value?.[only] ?? 0;
  const isKnown = jobs.value !== undefined && (live.value !== undefined || live.problem !== undefined);
  return (
    <div class="card">
      <h2>{title}</h2>
      <Figure
        count={isKnown ? actions + ofJobs : undefined}
        more={live.value?.more || jobs.value?.more}
        asOf={asOf(live) ?? asOf(jobs)}
      />
      <p class="card-links">
        {isKnown && can("actions:read") && (
          <a href={href("actions", { status })}>{mine("running_actions", { n: actions })}</a>
        )}
        {isKnown && can("jobs:read") && (
          <a href={href("jobs", { only })}>{mine("running_jobs", { n: ofJobs })}</a>
        )}
      </p>
    </div>
  );
}

interface CardProps {
  title: string;
  to: string;
  count: number | undefined;
  more?: boolean;
  /** When it was counted, if that is no longer up to date. */
  asOf: number | undefined;
  /** Whether any at all is one too many. */
  isBad?: boolean;
  hint: ComponentChildren;
}

/** When it was loaded, if its last poll failed or two polls have passed. */
function asOf({ at, problem, isOld }: QueryResult<unknown>): number | undefined {
  return at > 0 && (problem !== undefined || isOld()) ? at : undefined;
}

function Card({ title, to, hint, ...figure }: CardProps) {
  return (
    <div class="card">
      <h2>
        <a class="card-link" href={to}>
          {title}
        </a>
      </h2>
      <Figure {...figure} />
      <small>{hint}</small>
    </div>
  );
}

function Figure({ count, more, isBad, asOf }: Pick<CardProps, "count" | "more" | "isBad" | "asOf">) {
  const text = count === undefined ? "–" : `${number(count)}${more ? "+" : ""}`;
  const tone = asOf !== undefined ? "is-outdated" : isBad && count ? "is-alarming" : "";
  return (
    <p class={`figure ${tone}`}>
      {text}
      {asOf !== undefined && <small> {mine("as_of", { at: brief(asOf) })}</small>}
    </p>
  );
}
