// The last hour: how runs ended and how late they began, by the API's counts, and what happened last.

import { bounded } from "../actions/shown";
import { Lateness, rangeName, within } from "../charts/lateness";
import { type Outcome, Outcomes } from "../charts/outcomes";
import { now } from "../clock";
import { type QueryResult } from "../query";
import type { Gathered } from "../pages";
import { href } from "../route";
import { Time } from "../time";
import { Part } from "../ui/page";
import { Empty, Failure, Loading, StaleNote } from "../ui/states";
import { StatusBadge } from "../ui/status";
import { say } from "../words/shared";
import { isOwn, type Job } from "./jobs.data";
import type { Action, Summary } from "./overview.data";
import { type Ended, endedOf, latestOf } from "./overview.ended";
import { mine } from "./overview.words";

const MOST_LATEST = 12;
type Recent = Gathered<Action> & { at: number };

interface LastHourProps {
  jobs: QueryResult<Job[]>;
  recent: QueryResult<Recent | null>;
  summary: QueryResult<Summary | null>;
  failed: Action[];
}

export function LastHour({ jobs, recent, summary, failed }: LastHourProps) {
  if (jobs.value !== undefined && recent.value !== undefined && summary.value !== undefined) {
    const others = jobs.value.filter((each) => !isOwn(each));
    return (
      <>
        <StaleNote of={[jobs, recent, summary]} />
        <Hour jobs={others} recent={recent.value} summary={summary.value} failed={failed} />
      </>
    );
  }
  const failing = [jobs, recent, summary].find((each) => each.problem);
  if (failing?.problem) return <Failure problem={failing.problem} retry={failing.refresh} />;
  return <Loading lines={6} />;
}

interface HourProps {
  jobs: Job[];
  recent: Recent | null;
  summary: Summary | null;
  failed: Action[];
}

function Hour({ jobs, recent, summary, failed }: HourProps) {
  const actions = recent?.items ?? [];
  const latest = latestOf(endedOf(jobs, actions, failed), MOST_LATEST);
  return (
    <>
      {summary?.is_counted && <Counts summary={summary} recent={recent} />}
      <Latest ended={latest} />
    </>
  );
}

/** Runs of jobs are counted; of one-shots the API counts those that succeeded only if it is set so. */
function Counts({ summary, recent }: { summary: Summary; recent: Recent | null }) {
  const isWhole = summary.includes_executed_one_shots;
  const executed = isWhole
    ? []
    : (recent?.items ?? []).filter((each) => each.status === "executed" && !each.job);
  const ended = [...summary.minutes.map(outcomeOf), ...executed.map(executedAt)];
  const source = isWhole
    ? mine("counted")
    : mine(recent?.more ? "counted_newest" : "counted_besides", { n: executed.length });
  const [half, most] = [within(summary.lateness, 0.5), within(summary.lateness, 0.99)];
  const named = (range: Summary["lateness"][number]) =>
    rangeName(summary.lateness, summary.lateness.indexOf(range));
  return (
    <div class="columns">
      <Part title={mine("outcomes")}>
        <Outcomes at={now.peek()} ended={ended} />
        <p class="chart-note">
          {source} {summary.total.retried > 0 && mine("retried", { n: summary.total.retried })}
        </p>
      </Part>
      <Part title={mine("lateness")}>
        <Lateness ranges={summary.lateness} />
        {half && most && <p>{mine("half_within", { half: named(half), most: named(most) })}</p>}
        <p class="chart-note">{mine("first_only")}</p>
      </Part>
    </div>
  );
}

function outcomeOf(minute: Summary["minutes"][number]): Outcome {
  const { at, executed, failed, cancelled, skipped } = minute;
  return { at: Date.parse(at), executed, failed, other: cancelled + skipped };
}

function executedAt(action: Action): Outcome {
  return { at: Date.parse(action.executed_at ?? action.modified_at), executed: 1, failed: 0, other: 0 };
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
