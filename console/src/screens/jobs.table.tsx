// The table of jobs. A whole list is grouped by category; of a long one only the rows near the window are in the
// page. The last runs are loaded of the jobs that are shown.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { PageRead, Pages } from "../shown-pages";
import { Pager } from "../ui/pager";
import { useVirtualRows } from "../ui/virtual-rows";
import { say } from "../words/shared";
import { type Group, grouped, type Job, jobKey, useJobRows } from "./jobs.data";
import { type Rates, ratesOf } from "./jobs.rates";
import { JobRow } from "./jobs.row";
import { mine } from "./jobs.words";
import { useSummary } from "./overview.data";

/** The most rows that are all in the page. */
const MOST_AT_ONCE = 60;
/** The next page is loaded when so many rows are left. */
const EARLY = 30;
/** Milliseconds for which the rows rest before their runs are loaded. */
const RESTS = 150;

interface JobTableProps {
  jobs: (Job & { id: string })[];
  pages: Pages<PageRead<Job & { id: string }>>;
  /** Whether these are all jobs. */
  isWhole: boolean;
}

export function JobTable({ jobs, pages, isWhole }: JobTableProps) {
  const rates = ratesOf(useSummary().value ?? null);
  if (jobs.length > MOST_AT_ONCE) return <LongTable jobs={jobs} pages={pages} rates={rates} />;
  return <ShortTable jobs={jobs} pages={pages} isWhole={isWhole} rates={rates} />;
}

function ShortTable({ jobs, pages, isWhole, rates }: JobTableProps & { rates: Rates }) {
  const newest = useNewest(jobs.map(({ name }) => name));
  const groups: Group[] = isWhole ? grouped(jobs) : [{ key: "", kind: "all", jobs }];
  return (
    <section class="part" aria-label={say("jobs")}>
      <Table>
        {groups.map((group) => (
          <GroupRows group={group} rates={rates} newest={newest} key={`${group.kind} ${group.key}`} />
        ))}
      </Table>
      <Pager pages={pages} />
    </section>
  );
}

function LongTable({ jobs, pages, rates }: Omit<JobTableProps, "isWhole"> & { rates: Rates }) {
  const { rows, height, above, isScrolling, body, measure } = useVirtualRows(
    "jobs",
    jobs.length,
    (index) => jobs[index]?.id ?? String(index),
  );
  const next = pages.value?.next ?? null;
  const last = rows.at(-1)?.index ?? 0;
  useEffect(() => {
    if (next && !pages.isGrowing && !pages.problem && last >= jobs.length - EARLY) pages.grow();
  }, [last, jobs.length, next, pages.isGrowing]);
  const names = useRested(
    rows.flatMap(({ index }) => jobs[index]?.name ?? []),
    isScrolling,
  );
  const newest = useNewest(names);
  let end = above;
  const drawn: ComponentChildren[] = [];
  for (const { index, start, end: below } of rows) {
    const job = jobs[index];
    if (!job) continue;
    if (start > end) drawn.push(<Gap height={start - end} key={`before ${index}`} />);
    drawn.push(
      <JobRow
        job={newest.get(job.id) ?? job}
        rate={rates.get(job.id)}
        index={index}
        measure={measure}
        key={job.id}
      />,
    );
    end = below;
  }
  if (above + height > end) drawn.push(<Gap height={above + height - end} key="behind" />);
  return (
    <section class="part" aria-label={say("jobs")}>
      <Table count={next ? -1 : jobs.length + 1}>
        <tbody ref={body}>{drawn}</tbody>
      </Table>
      <Pager pages={pages} />
    </section>
  );
}

/** Stands for rows that are not in the page. */
function Gap({ height }: { height: number }) {
  return (
    <tr aria-hidden="true" class="gap" style={{ height: `${height}px` }}>
      <td colSpan={6} />
    </tr>
  );
}

function Table({ count, children }: { count?: number; children: ComponentChildren }) {
  return (
    <table class="folds jobs" aria-rowcount={count}>
      <thead>
        <tr aria-rowindex={count === undefined ? undefined : 1}>
          <th scope="col">{say("job")}</th>
          <th scope="col">{mine("cadence")}</th>
          <th scope="col">{mine("next")}</th>
          <th scope="col">{mine("last_runs")}</th>
          <th scope="col">{mine("last")}</th>
          <th scope="col">{mine("active")}</th>
        </tr>
      </thead>
      {children}
    </table>
  );
}

function GroupRows({ group, rates, newest }: { group: Group; rates: Rates; newest: Map<string, Job> }) {
  const title = group.kind === "category" ? group.key : mine(`group_${group.kind}`);
  return (
    <tbody>
      {group.kind !== "all" && (
        <tr class="group">
          <th scope="rowgroup" colSpan={6}>
            {title} <span>{mine("group_count", { n: group.jobs.length })}</span>
          </th>
        </tr>
      )}
      {group.jobs.map((job) => {
        const key = jobKey(job);
        return <JobRow job={newest.get(key) ?? job} rate={rates.get(key)} key={key} />;
      })}
    </tbody>
  );
}

/** The jobs of these names with their last runs, by `jobKey`; those that were loaded before stay. */
function useNewest(names: string[]): Map<string, Job> {
  const { value } = useJobRows(names);
  const [known] = useState(() => new Map<string, Job>());
  for (const job of value ?? []) known.set(jobKey(job), job);
  return known;
}

/** The names as they were when the rows last rested. */
function useRested(names: string[], isMoving: boolean): string[] {
  const [rested, setRested] = useState<string[]>([]);
  const key = names.join(" ");
  useEffect(() => {
    if (isMoving || rested.join(" ") === key) return undefined;
    const timer = setTimeout(() => setRested(names), rested.length > 0 ? RESTS : 0);
    return () => clearTimeout(timer);
  }, [key, isMoving]);
  return rested;
}
