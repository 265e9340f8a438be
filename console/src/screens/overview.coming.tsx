// What will run within the next day: the jobs that run soonest, and the one-shots that are due.

import { Timeline, type TimelineRow } from "../charts/timeline";
import { present } from "../clock";
import { can } from "../me";
import type { Gathered } from "../pages";
import { href } from "../route";
import { Part } from "../ui/page";
import { Empty, Failure, Loading, StaleNote } from "../ui/states";
import { called, isOwn } from "./jobs.data";
import { type Action, type ComingRuns, DAY, useComing, useComingRuns } from "./overview.data";
import { mine } from "./overview.words";

const MOST_ROWS = 12;

export function Coming() {
  const runs = useComingRuns();
  const actions = useComing();
  const isThere = runs.value !== undefined && actions.value !== undefined;
  const failing = [runs, actions].find((each) => each.problem && each.value === undefined);
  return (
    <Part title={mine("coming")}>
      {failing?.problem && <Failure problem={failing.problem} retry={failing.refresh} />}
      {isThere && <StaleNote of={[runs, actions]} />}
      {!isThere && !failing && <Loading lines={6} />}
      {isThere && <Day runs={runs.value ?? null} actions={actions.value ?? null} />}
    </Part>
  );
}

function Day({ runs, actions }: { runs: ComingRuns | null; actions: Gathered<Action> | null }) {
  const from = runs?.at ?? present();
  const others = (runs?.items ?? []).filter((each) => !isOwn(each));
  const soonest = others
    .filter((each) => each.times.length > 0)
    .sort((a, b) => (a.times[0] ?? "").localeCompare(b.times[0] ?? ""));
  const rows: TimelineRow[] = soonest.slice(0, MOST_ROWS).map((each) => ({
    ...each,
    key: `${each.tenant_id} ${each.name}`,
    label: called(each),
    to: href("jobs", each.name),
  }));
  if (actions && actions.items.length > 0) rows.push(oneShots(actions));
  if (rows.length === 0) return <Empty title={mine("coming_none")} />;
  const idle = others.length - soonest.length;
  return (
    <>
      <Timeline from={from} until={from + DAY} rows={rows} />
      {can("jobs:read") && (
        <p class="chart-note">
          {soonest.length > MOST_ROWS && (
            <a href={href("jobs")}>{mine("more_jobs", { n: soonest.length - MOST_ROWS })}</a>
          )}{" "}
          {idle > 0 && mine("idle_jobs", { n: idle })}{" "}
          {runs?.more && mine("first_jobs", { n: runs.items.length })} {mine("skips")}
        </p>
      )}
    </>
  );
}

function oneShots({ items, more }: Gathered<Action>): TimelineRow {
  return {
    key: "one-shots",
    label: mine("one_shots"),
    to: href("actions", { status: "pending" }),
    times: items.map((each) => each.due_at).sort(),
    count: items.length,
    more,
  };
}
