// What the page loads: one cache of TanStack Query. It polls, with growing pauses on errors, less often while
// the page is idle, and never in a hidden tab. Polls are at common times, so that they go as one request.

import { notifyManager, type Query, QueryClient, type QueryKey, QueryObserver } from "@tanstack/query-core";
import { useEffect, useReducer, useState } from "preact/hooks";
import { isIdle, onReturn } from "./activity";
import { now, toApiClock } from "./clock";
import { Problem, UNREACHABLE } from "./problem";

export interface QueryResult<T> {
  /** The last response; undefined before the first one. */
  value: T | undefined;
  /** When it came, in milliseconds; 0 before the first one. */
  readonly at: number;
  /** Why the last request failed; the value before it stays. */
  problem: Problem | undefined;
  /** Whether the value is older than two polls. It changes as time passes. */
  isOld: () => boolean;
  /** Load now. */
  refresh: () => void;
}

const SLOWEST = 60_000;
/** Milliseconds between two polls of an idle page. */
const IDLE = 15_000;
/** Milliseconds in which a part that is added to the page takes what another part has just loaded. */
const FRESH = 1_000;

const client = new QueryClient({
  defaultOptions: { queries: { networkMode: "always", retry: false, staleTime: FRESH } },
});
client.mount(); // it loads at once when a hidden tab is seen again
export const queries = client.getQueryCache();

interface Failure {
  problem: Problem;
  /** How many requests failed in a row. */
  count: number;
}

/** TanStack Query forgets an error when the next request begins; here it stays until one succeeds. */
const failures = new WeakMap<Query, Failure>();

const queryOf = (key: string) => queries.find({ queryKey: [key], exact: true });
const isFinal = ({ isForbidden, isMissing }: Problem) => isForbidden || isMissing;
const everyOf = (query: Query) => Number(query.meta?.every);

/** Why the last request of a query failed. */
export function lastProblem(query: Query | undefined): Problem | undefined {
  return query && failures.get(query)?.problem;
}

/** Milliseconds from a response to the next request; infinite for what is loaded once, forbidden or gone. */
function paceOf(query: Query): number {
  const failure = failures.get(query);
  if (failure && isFinal(failure.problem)) return Number.POSITIVE_INFINITY;
  const every = isIdle() ? Math.max(everyOf(query), IDLE) : everyOf(query);
  if (!failure) return every;
  return Math.min(Math.min(every, SLOWEST) * 2 ** failure.count, SLOWEST);
}

/** Milliseconds until the next request: all that have the same pace come at the same time. */
function untilPoll(query: Query): number | false {
  const pace = paceOf(query);
  if (!Number.isFinite(pace)) return false;
  const at = Date.now();
  return Math.ceil((at + pace / 2) / pace) * pace - at;
}

onReturn(() => {
  const isDue = (query: Query) => Date.now() - query.state.dataUpdatedAt > paceOf(query);
  void client.refetchQueries({ type: "active", predicate: isDue }, { cancelRefetch: false });
});

/** Whether its requests go on: the page's state does not depend on what is forbidden or gone. */
export function isOpen(query: Query): boolean {
  const problem = lastProblem(query);
  return query.isActive() && !(problem && isFinal(problem));
}

/** When the last response came, on the API's clock; 0 before the first one. */
export function loadedAt(query: Query | undefined): number {
  return query?.state.dataUpdatedAt ? toApiClock(query.state.dataUpdatedAt) : 0;
}

/** Whether two polls have passed since the last response. */
export function isOld(query: Query | undefined): boolean {
  const at = loadedAt(query);
  return query !== undefined && at > 0 && now.value - at > 2 * Math.max(everyOf(query), IDLE);
}

/** Load all that is on the page: after a change. */
export function refreshAll(): void {
  void client.invalidateQueries();
}

/** Forget what no part of the page shows; after a response that cannot be shown. */
export function forgetUnused(): void {
  client.removeQueries({ type: "inactive" });
}

interface Options {
  /** Whether a screen that is shown again begins with what it showed last. */
  isKept?: boolean;
}

/**
 * Load, and load again `every` so many milliseconds. It pauses while the tab is hidden, and loads at once
 * when it is seen again. What fails is loaded less and less often, up to a minute; what is forbidden or gone
 * is not loaded again. `key` names what is loaded, on all screens: parts with the same key share a request.
 */
export function useQuery<T extends NonNullable<unknown> | null>(
  load: (signal: AbortSignal) => Promise<T>,
  key: string,
  every = 5_000,
  { isKept = true }: Options = {},
): QueryResult<T> {
  const options = {
    queryKey: [key] as QueryKey,
    queryFn: ({ signal }: { signal: AbortSignal }) => recorded(load, key, signal),
    meta: { every },
    refetchInterval: (query: object) => untilPoll(query as Query),
    refetchOnWindowFocus: (query: object) => Number.isFinite(paceOf(query as Query)) && "always",
    notifyOnChangeProps: ["data" as const, "error" as const],
    ...(isKept ? {} : { gcTime: 0 }),
  };
  const [observer] = useState(() => new QueryObserver<T, Problem>(client, options));
  const [, redraw] = useReducer<number, void>((count) => count + 1, 0);
  useEffect(() => observer.setOptions(options));
  useEffect(() => observer.subscribe(notifyManager.batchCalls(() => redraw())), [observer]);

  const { data } = observer.getOptimisticResult(client.defaultQueryOptions(options));
  const problem = lastProblem(queryOf(key));
  return {
    value: problem && isFinal(problem) ? undefined : data,
    problem,
    get at() {
      return loadedAt(queryOf(key));
    },
    isOld: () => isOld(queryOf(key)),
    refresh: () => void observer.refetch(),
  };
}

async function recorded<T>(load: (signal: AbortSignal) => Promise<T>, key: string, signal: AbortSignal) {
  const query = queryOf(key);
  try {
    const value = await load(signal);
    if (query) failures.delete(query);
    return value;
  } catch (error) {
    if (signal.aborted) throw error;
    const problem = error instanceof Problem ? error : new Problem(UNREACHABLE, "page", "", String(error));
    if (query) failures.set(query, { problem, count: (failures.get(query)?.count ?? 0) + 1 });
    throw problem;
  }
}
