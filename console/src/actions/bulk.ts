// Many actions changed, a page at a time: counted first, without changing any, then done; either may be
// stopped between two pages, and goes on where it was.

import { api, call, type Schemas } from "../api";
import type { Status } from "../words/shared";
import type { Filters } from "./filters";
import type { Action } from "./lists";

export type BulkKind = "cancel" | "redrive";
type Left = Schemas["SkippedView"];

export interface Found {
  n: number;
  ids: string[];
  /** Whether there are more than were counted. */
  isMore: boolean;
  types: Record<string, number>;
  statuses: Partial<Record<Status, number>>;
  examples: Action[];
}

export interface Progress {
  changed: number;
  left: Left[];
}

export interface Bulk {
  kind: BulkKind;
  count: () => AsyncGenerator<Found>;
  change: () => AsyncGenerator<Progress>;
}

const MOST_COUNTED = 5_000;
const MOST_PAGES = 100;
const COUNTED_AT_ONCE = 100;
const CHANGED_AT_ONCE = 50;
const EXAMPLES = 5;

/** The statuses that a change takes. */
export const TAKES: Record<BulkKind, Status[]> = { cancel: ["pending", "processing"], redrive: ["failed"] };

/** Whether the filters mean any that the change takes. */
export function isPossible(kind: BulkKind, { status }: Filters): boolean {
  return !status?.length || status.some((each) => TAKES[kind].includes(each));
}

/** All that the filters mean as of now: what is scheduled while it goes on is not meant. */
export function byFilters(kind: BulkKind, filters: Filters): Bulk {
  const meant = { ...filters, created_until: filters.created_until ?? new Date().toISOString() };
  const status = meant.status?.filter((each) => TAKES[kind].includes(each));
  const step = (isDry: boolean, limit: number, cursor: string | undefined) => {
    const body = { ...meant, status, dry_run: isDry, limit, cursor };
    const path = kind === "cancel" ? "/actions/cancel" : "/actions/redrive";
    // Fields that the API would fill by itself may be left out; the types made of its document do not know
    // that.
    return call(api.POST(path, { body: body as never }));
  };

  async function* count() {
    const found = nothing();
    let cursor: string | null | undefined;
    for (let pages = 0; cursor !== null && found.n < MOST_COUNTED && pages < MOST_PAGES; pages += 1) {
      const page: Schemas["BulkView"] = await step(true, COUNTED_AT_ONCE, cursor);
      cursor = page.next_cursor;
      for (const each of page.changed) add(found, each);
      found.isMore = cursor !== null;
      yield { ...found };
    }
  }

  let changed = 0;
  const left: Left[] = [];
  let cursor: string | null | undefined;
  async function* change() {
    while (cursor !== null) {
      const page: Schemas["BulkView"] = await step(false, CHANGED_AT_ONCE, cursor);
      cursor = page.next_cursor;
      changed += page.changed.length;
      left.push(...page.left);
      yield { changed, left: [...left] };
    }
  }
  return { kind, count, change };
}

export function nothing(): Found {
  return { n: 0, ids: [], isMore: false, types: {}, statuses: {}, examples: [] };
}

export function add(found: Found, action: Action): void {
  found.n += 1;
  found.ids.push(action.id);
  found.types[action.type] = (found.types[action.type] ?? 0) + 1;
  found.statuses[action.status] = (found.statuses[action.status] ?? 0) + 1;
  if (found.examples.length < EXAMPLES) found.examples.push(action);
}
