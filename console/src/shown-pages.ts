// Lists that grow at their end: "Show more" appends a page. All shown pages are loaded again at each poll, so
// that what is shown is of one time; of a longer list nothing is polled.

import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { type QueryResult, useQuery } from "./query";

export interface PageRead<T> {
  items: T[];
  next: string | null;
  /** How many rows were compared, where a list compares rows one by one. */
  scanned?: { rows: number; until: string | null } | null;
}

export interface Pages<P> extends QueryResult<P> {
  /** Whether a page more is being loaded. */
  isGrowing: boolean;
  /** Append a page. */
  grow: () => void;
}

/** The most pages that are polled. */
const MOST_POLLED = 3;

/** The lists whose next load only appends a page. */
const growing = new Set<string>();

/** How many pages each list shows, by its key: the way back finds as many. */
const counts = signal<ReadonlyMap<string, number>>(new Map());

/**
 * Load as many pages as are shown, every `every` milliseconds for each of them. `key` is that of `useQuery`.
 * An item that moved to another page meanwhile is shown once.
 */
export function usePages<T extends { id: string }, P extends PageRead<T>>(
  read: (cursor: string | undefined, signal: AbortSignal) => Promise<P>,
  key: string,
  every: number,
): Pages<P & { pages: number }> {
  const count = counts.value.get(key) ?? 1;
  const shown = useRef<(P & { pages: number }) | undefined>(undefined);
  const load = async (signal: AbortSignal) => {
    const before = growing.delete(key) ? shown.current : undefined;
    let page: P = before ?? (await read(undefined, signal));
    const items = new Map(page.items.map((item) => [item.id, item]));
    let rows = page.scanned?.rows ?? 0;
    let pages = before?.pages ?? 1;
    for (; pages < count && page.next !== null; pages += 1) {
      page = await read(page.next, signal);
      for (const item of page.items) items.set(item.id, item);
      rows += page.scanned?.rows ?? 0;
    }
    if (page.scanned) page = { ...page, scanned: { ...page.scanned, rows } };
    return { ...page, items: [...items.values()], pages: Math.max(pages, count) };
  };
  const live = useQuery(load, key, count > MOST_POLLED ? Number.POSITIVE_INFINITY : every * count);
  const { value, refresh } = live;
  shown.current = value;
  useEffect(() => {
    if (value && value.pages < count) refresh();
  }, [count]);
  return {
    ...live,
    isGrowing: value !== undefined && value.pages < count && live.problem === undefined,
    grow: () => {
      growing.add(key);
      counts.value = new Map(counts.peek()).set(key, count + 1);
    },
  };
}
