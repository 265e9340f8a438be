// The members of a batch, changed together: the API closes an open batch before it cancels any.

import { api, call } from "../api";
import { type Batch, of } from "../screens/batches.data";
import { type Bulk, type BulkKind, CHANGED_AT_ONCE, countOf, type Left, taking } from "./bulk";
import { say } from "./bulk.words";
import type { Action } from "./lists";

const COUNTED = 100;
const MOST_STEPS = 5;

export function ofBatch(kind: BulkKind, { name, state }: Batch): Bulk {
  const path = kind === "cancel" ? "/batches/{batch_name}/cancel" : "/batches/{batch_name}/redrive";
  const step = (isDry: boolean, limit: number, cursor: string | null) =>
    call(api.POST(path, { params: of(name), body: { dry_run: isDry, limit, cursor } }));

  async function* count() {
    const found: Action[] = [];
    let cursor: string | null = null;
    for (let steps = 0; steps < MOST_STEPS && found.length < COUNTED; steps += 1) {
      const page = await step(true, COUNTED - found.length, cursor);
      found.push(...page.changed);
      cursor = page.next_cursor;
      yield { ...countOf(found), isMore: cursor !== null };
      if (cursor === null) return;
    }
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
  const isClosedFirst = kind === "cancel" && state === "open";
  return {
    kind,
    filters: {},
    about: say(isClosedFirst ? "of_open_batch" : "of_batch", { name }),
    count,
    change,
    take: taking((most, at) => step(true, most, at)),
  };
}
