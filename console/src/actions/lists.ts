// Lists of actions, read over as many pages as it takes: a page may be short, or empty, and still lead on.

import { api, call, type Schemas } from "../api";
import { useQuery } from "../query";
import { can } from "../me";
import { type Filters, inRequest } from "./filters";

export type Action = Schemas["ActionSummary"];

export interface Read {
  items: Action[];
  next: string | null;
  /** Whether runs of jobs are among them. */
  includesRuns: boolean;
  /** How many pages were requested. */
  pages: number;
  /** How far a search by error or payload came: the API compares rows one by one. */
  scanned: Schemas["ScannedView"] | null;
}

type Ask = (cursor: string | undefined) => Promise<Schemas["ActionPage"]>;

const PAGE = 50;
const LARGEST_PAGE = 100;
const EMPTY_PAGES = 5;

/** Reads on while `wants` more and there is more. */
export async function readOn(
  ask: Ask,
  first: string | undefined,
  wants: (read: Read) => boolean,
): Promise<Read> {
  const read: Read = { items: [], next: first ?? null, includesRuns: false, pages: 0, scanned: null };
  do {
    const page = await ask(read.next ?? undefined);
    read.items.push(...page.items);
    read.next = page.next_cursor;
    read.includesRuns = page.includes_runs;
    read.pages += 1;
    if (page.scanned) {
      const rows = (read.scanned?.rows ?? 0) + page.scanned.rows;
      read.scanned = { rows, until: page.scanned.until ?? read.scanned?.until ?? null };
    }
  } while (read.next !== null && wants(read));
  return read;
}

/** A page of actions; of empty ones up to five are passed by. */
export function listActions(filters: Filters, cursor: string | undefined, signal: AbortSignal, limit = PAGE) {
  const ask: Ask = (at) =>
    call(
      api.GET("/actions/query", { params: { query: { ...inRequest(filters), limit, cursor: at } }, signal }),
    );
  return readOn(ask, cursor, (read) => read.items.length === 0 && read.pages < EMPTY_PAGES);
}

/** The latest failed ones, up to so many. */
export function listDeadLetters({ status: _, ...filters }: Filters, most: number, signal: AbortSignal) {
  const ask: Ask = (cursor) =>
    call(
      api.GET("/dead-letters", {
        params: { query: { ...inRequest(filters), limit: LARGEST_PAGE, cursor } },
        signal,
      }),
    );
  const pages = (2 * most) / LARGEST_PAGE;
  return readOn(ask, undefined, (read) => read.items.length < most && read.pages < pages);
}

/** The types that workers run, for who may see them; what duetime does for itself is left out. */
export function useTypes(): string[] {
  const known = useQuery(
    async (signal) => (can("system") ? (await call(api.GET("/health/details", { signal }))).types : null),
    "types",
    Number.POSITIVE_INFINITY,
  );
  return (known.value ?? []).filter((each) => !each.startsWith("duetime-"));
}

/** All the types of both, each once and in order. */
export function typesOf(known: string[], seen: Action[]): string[] {
  return [...new Set([...known, ...seen.map((each) => each.type)])].sort();
}
