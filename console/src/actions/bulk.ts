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
}

export const CHANGED_AT_ONCE = 50;
const LARGEST_STEP = 100;
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

export interface ByFilters extends Bulk {
  /** The ids of all that would be changed. */
  ids: () => Promise<string[]>;
}

/**
 * All that the list of these filters shows and the change takes. The API's cut-off holds for all steps: what
 * is scheduled after the count is not meant.
 */
export function byFilters(kind: BulkKind, filters: Filters): ByFilters {
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

  async function ids() {
    const found: string[] = [];
    let cursor: string | null = null;
    do {
      const page = await step(true, LARGEST_STEP, cursor);
      cursor = page.next_cursor;
      found.push(...page.changed.map((action) => action.id));
    } while (cursor !== null);
    return found;
  }

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
  return { kind, filters: { ...filters, status }, count, change, ids };
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
