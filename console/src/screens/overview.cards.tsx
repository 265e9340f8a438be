// What to look at, in numbers; each leads to the list that it counts.

import type { ComponentChildren } from "preact";
import type { Live } from "../live";
import { can } from "../me";
import type { Gathered } from "../pages";
import { href } from "../route";
import { number } from "../words";
import { say } from "../words/shared";
import { isFailing, isPaused, isRunning, type Jobs } from "./jobs.data";
import { type Action, type Health, useRunning } from "./overview.data";
import { mine } from "./overview.words";

interface CardsProps {
  jobs: Live<Jobs>;
  health: Live<Health | null>;
  failed: Gathered<Action> | null | undefined;
}

export function Cards({ jobs, health, failed }: CardsProps) {
  const all = jobs.value?.items;
  const kept = health.value?.undelivered;
  return (
    <section class="cards counts" aria-label={mine("at_a_glance")}>
      {can("actions:read", "jobs:read") && <Running jobs={jobs.value} />}
      {can("actions:read") && (
        <Card
          title={mine("failed_today")}
          to={href("dead-letters")}
          count={failed?.items.length}
          more={failed?.more}
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
          isBad
          hint={mine("undelivered_hint")}
        />
      )}
      {can("jobs:read") && (
        <>
          <Card
            title={mine("failing")}
            to={href("jobs", { only: "failing" })}
            count={all?.filter(isFailing).length}
            isBad
            hint={mine("failing_hint")}
          />
          <Card
            title={mine("paused")}
            to={href("jobs", { only: "paused" })}
            count={all?.filter(isPaused).length}
            hint={mine("paused_hint")}
          />
        </>
      )}
    </section>
  );
}

/** Both kinds of work that run; it leads to each. */
function Running({ jobs }: { jobs: Jobs | undefined }) {
  const live = useRunning();
  const actions = live.value?.items.length ?? 0;
  const ofJobs = jobs?.items.filter(isRunning).length ?? 0;
  const isKnown = jobs !== undefined && (live.value !== undefined || live.problem !== undefined);
  return (
    <div class="card">
      <h2>{mine("running")}</h2>
      <Figure count={isKnown ? actions + ofJobs : undefined} />
      <p class="card-links">
        {isKnown && can("actions:read") && (
          <a href={href("actions", { status: "processing" })}>{mine("running_actions", { n: actions })}</a>
        )}
        {isKnown && can("jobs:read") && (
          <a href={href("jobs", { only: "running" })}>{mine("running_jobs", { n: ofJobs })}</a>
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
  /** Whether any at all is one too many. */
  isBad?: boolean;
  hint: ComponentChildren;
}

function Card({ title, to, count, more, isBad, hint }: CardProps) {
  return (
    <div class="card">
      <h2>
        <a class="card-link" href={to}>
          {title}
        </a>
      </h2>
      <Figure count={count} more={more} isBad={isBad} />
      <small>{hint}</small>
    </div>
  );
}

function Figure({ count, more, isBad }: { count: number | undefined; more?: boolean; isBad?: boolean }) {
  const text = count === undefined ? "–" : `${number(count)}${more ? "+" : ""}`;
  return <p class={`figure ${isBad && count ? "is-alarming" : ""}`}>{text}</p>;
}
