// Many actions changed, a page at a time: counted first by the API, without changing any, then done; the
// change may be stopped between two pages, and goes on where it was.

import { api, call, type Schemas } from "../api";
import { type StatusFilter, statusOf } from "../words/shared";
import { type Filters, includesRuns, inRequest } from "./filters";
import type { Action } from "./lists";

export type BulkKind = "cancel" | "redrive";
export type Left = Schemas["SkippedView"];

export interface Found {
  n: number;
  /** Whether there are more than were counted. */
  isMore: boolean;
  types: Record<string, number>;
  statuses: Partial<Record<StatusFilter, number>>;
  examples: Action[];
  includesRuns: boolean;
}

export interface Progress {
  changed: number;
  left: Left[];
}

export interface Bulk {
  kind: BulkKind;
  /** What is meant, in words. */
  filters: Filters;
  error?: string;
  /** What is meant, where no filters say it. */
  about?: string;
  count: () => AsyncGenerator<Found>;
  change: () => AsyncGenerator<Progress>;
  /** Of a redrive: the next ones that would be changed; none when there are no more. */
  take?: (most: number) => Promise<Action[]>;
}

export const CHANGED_AT_ONCE = 50;
/** The most ids of one request. */
export const IDS_AT_ONCE = 100;
const EXAMPLES = 5;

/** The statuses that a change takes. */
export const TAKES: Record<BulkKind, StatusFilter[]> = {
  cancel: ["pending", "retrying", "processing"],
  redrive: ["failed"],
};

/** Whether the filters mean any that the change takes. */
export function isPossible(kind: BulkKind, { status }: Filters): boolean {
  return !status?.length || status.some((name) => TAKES[kind].includes(name));
}

/**
 * All that the list of these filters shows and the change takes. The API's cut-off holds for all steps: what
 * is scheduled after the count is not meant.
 */
export function byFilters(kind: BulkKind, filters: Filters): Bulk {
  const status = (filters.status ?? TAKES[kind]).filter((name) => TAKES[kind].includes(name));
  const runs = includesRuns(filters) ? undefined : false;
  let cutOff = filters.created_until;
  const step = async (isDry: boolean, limit: number, cursor: string | null): Promise<Schemas["BulkView"]> => {
    const body = {
      ...inRequest(filters),
      status,
      runs,
      created_until: cutOff,
      dry_run: isDry,
      limit,
      cursor,
    };
    const path = kind === "cancel" ? "/actions/cancel" : "/actions/redrive";
    // Fields that the API would fill by itself may be left out; the types made of its document do not know
    // that.
    const page = await call(api.POST(path, { body: body as never }));
    if (isDry) cutOff = page.created_until ?? cutOff;
    return page;
  };

  async function* count() {
    cutOff = filters.created_until;
    const { matched, changed, includes_runs } = await step(true, EXAMPLES, null);
    yield {
      n: matched?.count ?? changed.length,
      isMore: matched?.more ?? false,
      types: matched?.by_type ?? {},
      statuses: matched?.by_status ?? {},
      examples: changed,
      includesRuns: includes_runs,
    };
  }

  const take = taking((most, at) => step(true, most, at));
  let changed = 0;
  const left: Left[] = [];
  let cursor: string | null | undefined;
  async function* change() {
    while (cursor !== null) {
      const page = await step(false, CHANGED_AT_ONCE, cursor ?? null);
      cursor = page.next_cursor;
      changed += page.changed.length;
      left.push(...page.left);
      yield { changed, left: [...left] };
    }
  }
  return { kind, filters: { ...filters, status }, count, change, take };
}

/** Takes from pages, of which some may be empty. */
export function taking(read: (most: number, cursor: string | null) => Promise<Schemas["BulkView"]>) {
  let cursor: string | null | undefined;
  return async (most: number): Promise<Action[]> => {
    while (cursor !== null) {
      const page = await read(most, cursor ?? null);
      cursor = page.next_cursor;
      if (page.changed.length > 0) return page.changed;
    }
    return [];
  };
}

/** Change the actions with these ids, 100 at most. */
export function changeByIds(kind: BulkKind, ids: string[]): Promise<Schemas["BulkView"]> {
  const path = kind === "cancel" ? "/actions/cancel" : "/actions/redrive";
  return call(api.POST(path, { body: { ids, limit: IDS_AT_ONCE } as never }));
}

/** Actions that are listed already, changed by their ids; those that have changed meanwhile may be left. */
export function byIds(kind: BulkKind, actions: Action[]): Bulk {
  async function* count() {
    yield countOf(actions);
  }
  let done = 0;
  let changed = 0;
  const left: Left[] = [];
  async function* change() {
    while (done < actions.length) {
      const some = actions.slice(done, done + CHANGED_AT_ONCE);
      const page = await changeByIds(
        kind,
        some.map((action) => action.id),
      );
      done += some.length;
      changed += page.changed.length;
      left.push(...page.left);
      yield { changed, left: [...left] };
    }
  }
  let taken = 0;
  const take = (most: number) => {
    const some = actions.slice(taken, taken + most);
    taken += some.length;
    return Promise.resolve(some);
  };
  return { kind, filters: {}, count, change, take };
}

export function nothing(): Found {
  return { n: 0, isMore: false, types: {}, statuses: {}, examples: [], includesRuns: false };
}

/** Count actions that are listed already. */
export function countOf(actions: Action[]): Found {
  const found = { ...nothing(), n: actions.length, examples: actions.slice(0, EXAMPLES) };
  for (const action of actions) {
    const status = statusOf(action);
    found.types[action.type] = (found.types[action.type] ?? 0) + 1;
    found.statuses[status] = (found.statuses[status] ?? 0) + 1;
    found.includesRuns ||= action.job !== null;
  }
  return found;
}
