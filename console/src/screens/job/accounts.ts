// What became of a job's nominal times: asked for by window, in bounds, and counted by day or by hour.

import { present } from "../../clock";
import { api, call, type Schemas } from "../../api";

export type Job = Schemas["JobView"];
export type Occurrence = Schemas["OccurrenceView"];

/** What a cell of the calendar counts. */
export type Group = "executed" | "failed" | "skipped" | "missed" | "coming";
export const GROUPS: Group[] = ["executed", "failed", "skipped", "missed", "coming"];

const GROUP_OF: Record<Schemas["OccurrenceStatus"], Group | null> = {
  executed: "executed",
  failed: "failed",
  cancelled: "skipped",
  skipped: "skipped",
  missed: "missed",
  processing: "coming",
  pending: "coming",
  upcoming: "coming",
  calendar: null,
  gap: null,
  forgotten: null,
};

/** How many of a group; null: some, not counted. */
export type Counts = Partial<Record<Group, number | null>>;

export interface Window {
  entries: Occurrence[];
  /** From where on more was not asked for. */
  cutAt: string | null;
}

const LIMIT = 500;

/**
 * The accounts in (from, until], in so many calls at most for each of `parts` equally long parts, which are read
 * at once; those behind a part that has more are left out.
 */
export async function accountsInParts(
  name: string,
  [from, until]: [string, string],
  { parts, calls }: { parts: number; calls: number },
  signal: AbortSignal,
): Promise<Window> {
  const [start, end] = [Date.parse(from), Date.parse(until)];
  const bounds = Array.from(
    { length: parts },
    (_, part) => start + Math.floor((part * (end - start)) / parts),
  );
  const texts = [from, ...bounds.slice(1).map((at) => new Date(at).toISOString()), until];
  const windows = await Promise.all(
    bounds.map((_, part) => accounts(name, texts[part] as string, texts[part + 1] as string, calls, signal)),
  );
  const cut = windows.findIndex(({ cutAt }) => cutAt !== null);
  const known = cut < 0 ? windows : windows.slice(0, cut + 1);
  return { entries: known.flatMap(({ entries }) => entries), cutAt: windows[cut]?.cutAt ?? null };
}

/** The accounts in (from, until], in so many calls at most. */
export async function accounts(
  name: string,
  from: string,
  until: string,
  calls: number,
  signal: AbortSignal,
): Promise<Window> {
  const entries: Occurrence[] = [];
  let next: string | null = from;
  for (let made = 0; next && made < calls; made += 1) {
    const query: { from: string; until: string; limit: number } = { from: next, until, limit: LIMIT };
    const page: Schemas["OccurrencePage"] = await call(
      api.GET("/jobs/{name}/occurrences", { params: { path: { name }, query }, signal }),
    );
    entries.push(...page.items);
    next = page.next_from;
  }
  return { entries, cutAt: next };
}

/**
 * The API does not list the times of folds: the cadences give them. Times that they do not give are not
 * counted.
 */
export async function timesOf(job: Job, folds: Occurrence[], signal: AbortSignal): Promise<number[]> {
  const [first, last] = [folds[0], folds.at(-1)];
  if (!first || !last?.until) return [];
  const requests = job.cadences
    .filter((each) => !isTimeless(each.text))
    .map((each) =>
      call(
        api.GET("/jobs/preview", {
          params: {
            query: {
              cadence: each.text,
              from: new Date(Date.parse(first.at) - 1).toISOString(),
              until: last.until as string,
            },
          },
          signal,
        }),
      ),
    );
  const found = await Promise.all(requests);
  const times = found.flatMap((each) =>
    each.occurrences.flatMap(({ at }) => (at === null ? [] : [Date.parse(at)])),
  );
  return [...new Set(times)].sort((one, other) => one - other);
}

/** Whether a cadence names no times: events start the job, or people do. */
export function isTimeless(text: string): boolean {
  return /^(on_event|manual)\b/.test(text);
}

/** Whether a pause covers a time to come: it has a row yet, perhaps, and will be skipped all the same. */
export function isPaused(job: Job, time: { at: string; cadences: string[] }): boolean {
  const covers = (pause: Schemas["PauseView"] | null | undefined) =>
    !!pause && (pause.until === null || Date.parse(time.at) <= Date.parse(pause.until));
  const pauseOf = (name: string) => job.cadences.find((each) => each.name === name)?.paused;
  return (
    covers(job.paused) || (time.cadences.length > 0 && time.cadences.every((each) => covers(pauseOf(each))))
  );
}

/**
 * Counts by bucket, of which each has the key that `keyOf` gives an instant; `times` are those that folds
 * stand for.
 */
export function counted(
  job: Job,
  entries: Occurrence[],
  times: number[],
  keyOf: (at: number) => string,
  keys: string[],
): Map<string, Counts> {
  const counts = new Map<string, Counts>(keys.map((each) => [each, {}]));
  const add = (key: string, group: Group, n: number | null) => {
    const of = counts.get(key);
    if (!of) return;
    const before = of[group];
    of[group] = n === null || before === null ? null : (before ?? 0) + n;
  };
  for (const each of entries) {
    const isSilent = each.account === "pending" && each.cadences.length > 0 && isPaused(job, each);
    const group = isSilent ? "skipped" : GROUP_OF[each.account];
    if (!group) continue;
    const [start, end] = [Date.parse(each.at), Date.parse(each.until ?? each.at)];
    const [first, last] = [keyOf(start), keyOf(end)];
    if (first === last) {
      add(first, group, each.count);
      continue;
    }
    const within = times.filter((at) => at >= start && at <= end);
    if (within.length === each.count) for (const at of within) add(keyOf(at), group, 1);
    else for (const key of keys) if (key >= first && key <= last) add(key, group, null);
  }
  return counts;
}

/** Folds that lie in more than one bucket. */
export function spreadOut(entries: Occurrence[], keyOf: (at: number) => string): Occurrence[] {
  return entries.filter((each) => each.until && keyOf(Date.parse(each.at)) !== keyOf(Date.parse(each.until)));
}

export type Scale = "month" | "day" | "hour";

const DAY = 86_400_000;
const MOST_IN_MONTH = 1_500;
const MOST_IN_DAY = 9_000;

/** In how many parts a window of a job is read: each then fits into one response. */
export function partsOf(job: Job, length: number): number {
  return Math.max(1, Math.ceil(length / gapOf(job) / (LIMIT * FILLED)));
}

/** The share of a response that the runs of an even cadence should fill: others are less even. */
const FILLED = 0.8;

/** What can be counted of a job at once, by how often it runs: a month, a day, or an hour. */
export function scaleOf(job: Job): Scale {
  const perDay = DAY / gapOf(job);
  if (perDay * 31 <= MOST_IN_MONTH) return "month";
  return perDay <= MOST_IN_DAY ? "day" : "hour";
}

/** How far its runs are apart, about: by those to come, else by those that were. */
function gapOf(job: Job): number {
  const times = job.next_runs.map((each) => Date.parse(each.at));
  const [first, last] = [times[0], times.at(-1)];
  if (first !== undefined && last !== undefined && times.length > 1)
    return (last - first) / (times.length - 1);
  const ran = job.tally.executed + job.tally.failed;
  return ran < MOST_IN_MONTH ? DAY * 31 : Math.max(1, present() - Date.parse(job.since)) / ran;
}
