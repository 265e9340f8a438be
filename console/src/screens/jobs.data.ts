// The jobs with their last runs, for the screens that show all of them; and what is asked of such a list.

import { api, call, type Schemas } from "../api";
import { type QueryResult, useQuery } from "../query";
import { can, SYSTEM } from "../me";
import { type Gathered, gather } from "../pages";

export type Job = Schemas["JobSummary"];

const PAGE = 100;
const MOST_PAGES = 10;
/** How many runs of each job are loaded. */
export const RUNS = 20;
const EVERY = 10_000;

export type Jobs = Gathered<Job>;

/** All jobs that the caller may see, each with so many of its last runs; none where no job may be seen. */
export function useJobs(runs = RUNS): QueryResult<Jobs> {
  const isAllowed = can("jobs:read");
  return useQuery(
    (signal) =>
      isAllowed
        ? gather(
            (cursor) =>
              call(
                api.GET("/jobs", {
                  params: { query: { limit: PAGE, runs, prices: true, cursor } },
                  signal,
                }),
              ),
            MOST_PAGES,
          )
        : Promise.resolve({ items: [], more: false }),
    `jobs ${runs}`,
    isAllowed ? EVERY : Number.POSITIVE_INFINITY,
  );
}

/** What a job is called by people: its title, or its name where it has none. */
export function called(job: { name: string; title: string }): string {
  return job.title || job.name;
}

/** Whether a run waits for its next attempt; known only where runs were loaded. */
export const isRetrying = (job: Job) => job.enabled && (job.recent_runs ?? []).some((run) => run.is_retrying);
export const isFailing = (job: Job) => job.enabled && (job.consecutive_failures > 0 || isRetrying(job));
export const isPaused = (job: Job) =>
  job.enabled && (job.paused !== null || job.cadences.some((each) => each.paused !== null));
/** Whether the run that holds the job's lock runs; between two attempts it keeps the lock. */
export const isRunning = (job: Job) =>
  job.running !== null && !(job.recent_runs ?? []).some((run) => run.id === job.running && run.is_retrying);

/** Which of all jobs are asked for, by the address. */
export const ONLY = { failing: isFailing, retrying: isRetrying, paused: isPaused, running: isRunning };
export type Only = keyof typeof ONLY;

export function matches(job: Job, text: string): boolean {
  const sought = text.trim().toLocaleLowerCase();
  return [job.name, job.title, job.category].some((each) => each.toLocaleLowerCase().includes(sought));
}

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
