// The jobs: those that a search finds, page by page, the last runs of those that are shown, and the counts.

import { api, call, type Schemas } from "../api";
import { type QueryResult, useQuery } from "../query";
import { can, SYSTEM } from "../me";
import { type PageRead, type Pages, usePages } from "../shown-pages";

export type Job = Schemas["JobSummary"];
export type JobCounts = Schemas["JobCountsView"];
type Listed = Job & { id: string };

const PAGE = 100;
/** Pages without a match that are read on from; each compares a thousand jobs. */
const MOST_PAGES = 5;
/** How many runs of each job are loaded, and of how many jobs at once: as the API allows. */
export const RUNS = 20;
const WITH_RUNS = 25;
const EVERY = 10_000;
const SLOW = 30_000;

export const STATES = ["failing", "retrying", "paused", "running"] as const;
export type State = (typeof STATES)[number];

export const jobKey = (job: Pick<Job, "tenant_id" | "name">) => `${job.tenant_id} ${job.name}`;

/** The jobs that the caller may see, have a text in them and are in a state; by name, without their runs. */
export function useJobPages(text: string, state: State | undefined): Pages<PageRead<Listed>> {
  const read = async (cursor: string | undefined, signal: AbortSignal): Promise<PageRead<Listed>> => {
    let next = cursor;
    for (let count = 1; ; count += 1) {
      const query = { limit: PAGE, prices: true, q: text.trim() || undefined, state, cursor: next };
      const page = await call(api.GET("/jobs", { params: { query }, signal }));
      next = page.next_cursor ?? undefined;
      if (page.items.length > 0 || !next || count === MOST_PAGES) {
        const items = page.items.map((job) => ({ ...job, id: jobKey(job) }));
        return { items, next: page.next_cursor };
      }
    }
  };
  return usePages(read, ["jobs", state ?? "", text.trim()].join(" "), EVERY);
}

/** The jobs of these names as they are now, with their last runs. */
export function useJobRows(names: string[]): QueryResult<Job[]> {
  const read = (some: string[], signal: AbortSignal) =>
    call(api.GET("/jobs", { params: { query: { name: some, runs: RUNS, prices: true } }, signal }));
  const load = async (signal: AbortSignal) => {
    const portions = Array.from({ length: Math.ceil(names.length / WITH_RUNS) }, (_, at) =>
      names.slice(at * WITH_RUNS, (at + 1) * WITH_RUNS),
    );
    const pages = await Promise.all(portions.map((some) => read(some, signal)));
    return pages.flatMap(({ items }) => items);
  };
  const every = names.length > 0 ? EVERY : Number.POSITIVE_INFINITY;
  return useQuery(load, ["job rows", ...names].join(" "), every);
}

/** How many jobs are in which state; null where no job may be seen. */
export function useJobCounts(): QueryResult<JobCounts | null> {
  const isAllowed = can("jobs:read");
  return useQuery<JobCounts | null>(
    (signal) => (isAllowed ? call(api.GET("/jobs/counts", { signal })) : Promise.resolve(null)),
    "job counts",
    isAllowed ? SLOW : Number.POSITIVE_INFINITY,
  );
}

/** The jobs that ran last, with their runs; of many jobs, of the first ones by name. */
export function useLatestJobs(): QueryResult<Job[]> {
  const isAllowed = can("jobs:read");
  const first = useQuery<Job[]>(
    async (signal) =>
      isAllowed ? (await call(api.GET("/jobs", { params: { query: { limit: PAGE } }, signal }))).items : [],
    "first jobs",
    isAllowed ? SLOW : Number.POSITIVE_INFINITY,
  );
  const startOf = (job: Job) => job.last_run?.started_at ?? "";
  const latest = (first.value ?? [])
    .filter((job) => !isOwn(job))
    .sort((a, b) => startOf(b).localeCompare(startOf(a)))
    .slice(0, WITH_RUNS)
    .map(({ name }) => name);
  const rows = useJobRows(latest.sort());
  return first.value === undefined ? first : rows;
}

/** What a job is called by people: its title, or its name where it has none. */
export function called(job: { name: string; title: string }): string {
  return job.title || job.name;
}

/** Whether the run that holds the job's lock runs; between two attempts it keeps the lock. */
export const isRunning = (job: Job) =>
  job.running !== null && !(job.recent_runs ?? []).some((run) => run.id === job.running && run.is_retrying);

const OWN = "duetime";

/** Whether duetime runs it for itself, as its sweep and its catch-up. */
export function isOwn(job: { name: string; tenant_id: string }): boolean {
  return job.tenant_id === SYSTEM && job.name.startsWith(`${OWN}-`);
}

export interface Group {
  key: string;
  /** `own` are duetime's; the others go by their category. */
  kind: "own" | "category" | "rest" | "all";
  jobs: Job[];
}

/** By category where there are several; duetime's own come last. */
export function grouped(jobs: Job[]): Group[] {
  const [own, others] = [jobs.filter(isOwn), jobs.filter((each) => !isOwn(each))];
  const categories = [...new Set(others.map((each) => each.category))].sort((a, b) => a.localeCompare(b));
  const groups: Group[] =
    categories.length < 2
      ? [{ key: "", kind: categories[0] ? "category" : "all", jobs: others }]
      : categories.map((each) => ({
          key: each,
          kind: each ? "category" : "rest",
          jobs: others.filter((job) => job.category === each),
        }));
  for (const each of groups) if (each.kind === "category") each.key ||= categories[0] ?? "";
  groups.sort((a, b) => Number(a.kind === "rest") - Number(b.kind === "rest"));
  groups.push({ key: OWN, kind: "own", jobs: own });
  return groups.filter((each) => each.jobs.length > 0);
}
