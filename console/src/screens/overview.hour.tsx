// The last hour: how runs ended, how late they began, and what happened last. Below each chart stands what it
// is made of.

import { bounded } from "../actions/shown";
import { Lateness, median } from "../charts/lateness";
import { Outcomes } from "../charts/outcomes";
import { type Live, now } from "../live";
import { can } from "../me";
import type { Gathered } from "../pages";
import { href } from "../route";
import { span, Time } from "../time";
import { Part } from "../ui/page";
import { Empty, Failure, Loading, StaleNote } from "../ui/states";
import { StatusBadge } from "../ui/status";
import { say } from "../words/shared";
import { called, isOwn, type Job, type Jobs, RUNS } from "./jobs.data";
import { type Action, HOUR } from "./overview.data";
import { begunOf, cutShort, type Ended, endedOf, latestOf } from "./overview.ended";
import { mine } from "./overview.words";

const MOST_LATEST = 12;
type Recent = Gathered<Action> & { at: number };

interface LastHourProps {
  jobs: Live<Jobs>;
  recent: Live<Recent | null>;
  failed: Action[];
}

export function LastHour({ jobs, recent, failed }: LastHourProps) {
  if (jobs.value !== undefined && recent.value !== undefined) {
    const others = jobs.value.items.filter((each) => !isOwn(each));
    return (
      <>
        <StaleNote of={[jobs, recent]} />
        <Hour jobs={others} recent={recent.value} failed={failed} />
      </>
    );
  }
  const problem = jobs.problem ?? recent.problem;
  if (problem) return <Failure problem={problem} retry={jobs.problem ? jobs.refresh : recent.refresh} />;
  return <Loading lines={6} />;
}

interface HourProps {
  jobs: Job[];
  recent: Recent | null;
  failed: Action[];
}

function Hour({ jobs, recent, failed }: HourProps) {
  const at = now.peek();
  const actions = recent?.items ?? [];
  const ended = endedOf(jobs, actions, failed);
  const begun = begunOf(jobs, actions, at - HOUR);
  const source = (besides: string) => <Source jobs={jobs} recent={recent} at={at} besides={besides} />;
  const worst = begun.at(-1);
  return (
    <>
      <div class="columns">
        <Part title={mine("outcomes")}>
          <Outcomes at={at} ended={ended} />
          {source("")}
        </Part>
        <Part title={mine("lateness")}>
          <Lateness from={at - HOUR} until={at} dots={begun} />
          {worst && (
            <p>
              {mine("median", { span: span(median(begun)) })},{" "}
              <a href={href("actions", worst.id)}>{mine("worst", { span: span(worst.late) })}</a>
            </p>
          )}
          {source(mine("first_only"))}
        </Part>
      </div>
      <Latest ended={latestOf(ended, MOST_LATEST)} />
    </>
  );
}

function Source({
  jobs,
  recent,
  at,
  besides,
}: Pick<HourProps, "jobs" | "recent"> & { at: number; besides: string }) {
  const values = { runs: RUNS, n: recent?.items.length ?? 0 };
  const key = !recent
    ? "made_of_jobs"
    : !can("jobs:read")
      ? "made_of_actions"
      : recent.more
        ? "made_of_newest"
        : "made_of";
  const short = cutShort(jobs, RUNS, at);
  const reach =
    short.length === 0
      ? "."
      : short.length > 2
        ? mine("reach_many", { n: short.length })
        : mine("reach", { n: short.length, jobs: short.map(called).join(", ") });
  return (
    <p class="chart-note">
      {mine(key, values)}
      {reach} {besides}
    </p>
  );
}

function Latest({ ended }: { ended: Ended[] }) {
  return (
    <Part title={mine("latest")} aside={<small>{mine("latest_why")}</small>}>
      {ended.length === 0 ? <Empty title={mine("latest_none")} /> : <LatestTable ended={ended} />}
    </Part>
  );
}

function LatestTable({ ended }: { ended: Ended[] }) {
  return (
    <table class="folds latest">
      <thead>
        <tr>
          <th scope="col">{mine("ended")}</th>
          <th scope="col">{say("status")}</th>
          <th scope="col">{mine("what")}</th>
          <th scope="col">{say("why")}</th>
        </tr>
      </thead>
      <tbody>
        {ended.map((each) => (
          <tr key={each.id}>
            <td data-label={mine("ended")}>
              <Time at={each.at} as="away" />
            </td>
            <td data-label={say("status")}>
              <StatusBadge status={each.status} />
            </td>
            <td data-label={mine("what")}>
              <span>
                <a href={href("actions", each.id)} title={each.id}>
                  {each.what}
                </a>
                {each.times > 1 && <small> {mine("times", { n: each.times })}</small>}
              </span>
            </td>
            <td data-label={say("why")}>
              <bdi>{bounded(each.why ?? "")}</bdi>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
