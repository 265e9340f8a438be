// What the overview is made of: how things stand, what ran within the last hour, and what will within the
// next day.

import { api, call, type Schemas } from "../api";
import { present } from "../clock";
import { type QueryResult, useQuery } from "../query";
import { can } from "../me";
import { type Gathered, gather } from "../pages";
import { dayKey } from "../time";
import type { StatusFilter } from "../words/shared";

export type Action = Schemas["ActionSummary"];
export type Health = Schemas["HealthDetails"];

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
const MINUTE = 60_000;
/** Second pages come together as one request; a third one would be one more at each poll. */
const MOST_PAGES = 2;
const PAGE = 100;
const SOON = 15_000;
const SLOW = 30_000;

/** Asked for only if the caller may; what is not asked for is null. */
function useAllowed<T extends object>(
  isAllowed: boolean,
  load: (signal: AbortSignal) => Promise<T>,
  key: string,
  every: number,
): QueryResult<T | null> {
  return useQuery<T | null>(
    (signal) => (isAllowed ? load(signal) : Promise.resolve(null)),
    key,
    isAllowed ? every : Number.POSITIVE_INFINITY,
  );
}

type Filters = NonNullable<Parameters<typeof query>[0]>;

function query(
  filters: { status?: StatusFilter[]; due_after?: string; due_until?: string },
  signal: AbortSignal,
): Promise<Gathered<Action>> {
  return gather(
    (cursor) =>
      call(api.GET("/actions/query", { params: { query: { ...filters, limit: PAGE, cursor } }, signal })),
    MOST_PAGES,
  );
}

const ask = (filters: () => Filters) => (signal: AbortSignal) => query(filters(), signal);
const away = (milliseconds: number) => new Date(present() + milliseconds).toISOString();

export const useHealth = () =>
  useAllowed(can("system"), (signal) => call(api.GET("/health/details", { signal })), "health", SOON);

/** What is pending, and has been due for more than a minute; what may rightly wait for a slot is left out. */
export const useLate = () =>
  useAllowed(
    can("actions:read") && !can("system"),
    async (signal) => {
      const { items, more } = await query({ status: ["pending"], due_until: away(-MINUTE) }, signal);
      const late = items.filter((each) => each.concurrency_key === null);
      return { items: late.sort((a, b) => a.due_at.localeCompare(b.due_at)), more };
    },
    "late",
    SOON,
  );

/** The one-shots that run, and those that wait for their next attempt. */
export const useActive = () =>
  useAllowed(
    can("actions:read"),
    ask(() => ({ status: ["processing", "retrying"] })),
    "active",
    SOON,
  );

/** What failed today, in the reader's day; the latest first. */
export const useFailedToday = () =>
  useAllowed(
    can("actions:read"),
    async (signal) => {
      const isToday = (each: Action | undefined) => !each || dayKey(each.modified_at) === dayKey(present());
      const found = await gather(
        (cursor) => call(api.GET("/dead-letters", { params: { query: { limit: PAGE, cursor } }, signal })),
        MOST_PAGES,
        (items) => isToday(items.at(-1)),
      );
      return { items: found.items.filter(isToday), more: found.more };
    },
    "failed today",
    SOON,
  );

/** The newest one-shots that were due within the last hour. */
export const useRecent = () =>
  useAllowed(
    can("actions:read"),
    async (signal) => {
      const at = present();
      const found = await query({ due_after: away(-HOUR), due_until: away(0) }, signal);
      return { ...found, at };
    },
    "recent",
    SLOW,
  );

export type Summary = Schemas["SummaryView"];

/** The counts of what ended within the last hour. */
export const useSummary = () =>
  useAllowed(
    can("actions:read"),
    (signal) => call(api.GET("/summary", { params: { query: { minutes: 60 } }, signal })),
    "summary",
    SLOW,
  );

/** The one-shots that are due within the next day. */
export const useComing = () =>
  useAllowed(
    can("actions:read"),
    ask(() => ({ status: ["pending"], due_after: away(0), due_until: away(DAY) })),
    "coming",
    SLOW,
  );

export interface ComingRuns {
  items: Schemas["ComingView"][];
  /** Whether there are more jobs than were read. */
  more: boolean;
  at: number;
}

/** When each job will run within the next day. */
export const useComingRuns = () =>
  useAllowed<ComingRuns>(
    can("jobs:read"),
    async (signal) => {
      const until = away(DAY);
      const read = (cursor?: string) =>
        call(
          api.GET("/jobs/coming", {
            params: { query: { until, most: 200, limit: PAGE, cursor } },
            signal,
          }),
        );
      const { items, more } = await gather(read, MOST_PAGES);
      return { items, more, at: Date.parse(until) - DAY };
    },
    "coming runs",
    SLOW,
  );
