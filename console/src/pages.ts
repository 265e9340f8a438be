// Lists come in pages, which may be short or empty and still lead on: a few of them are gathered into one.

export interface PageOf<T> {
  items: T[];
  next_cursor: string | null;
}

export interface Gathered<T> {
  items: T[];
  /** Whether there is more than was gathered. */
  more: boolean;
}

/** Reads on while there is more and `goesOn` says so, but at most so many pages. */
export async function gather<T>(
  read: (cursor: string | undefined) => Promise<PageOf<T>>,
  most: number,
  goesOn: (items: T[]) => boolean = () => true,
): Promise<Gathered<T>> {
  const items: T[] = [];
  let cursor: string | undefined;
  for (let count = 0; count < most; count += 1) {
    const page = await read(cursor);
    items.push(...page.items);
    if (!page.next_cursor) return { items, more: false };
    cursor = page.next_cursor;
    if (!goesOn(items)) return { items, more: false };
  }
  return { items, more: true };
}
