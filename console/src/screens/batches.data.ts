// Batches and their members, as the API lists them.

import { readOn } from "../actions/lists";
import { api, call, type Schemas } from "../api";
import type { Status } from "../words/shared";

export type Batch = Schemas["BatchView"];

/** A batch in a list, whose key is its name. */
export interface ListedBatch extends Batch {
  id: string;
}

const PAGE = 25;
const MEMBERS = 50;
const EMPTY_PAGES = 5;

export async function listBatches(cursor: string | undefined, signal: AbortSignal) {
  const params = { query: { limit: PAGE, cursor } };
  const page = await call(api.GET("/batches", { params, signal }));
  const items = page.items.map((batch): ListedBatch => ({ ...batch, id: batch.name }));
  return { items, next: page.next_cursor };
}

export function getBatch(name: string, signal?: AbortSignal): Promise<Batch> {
  return call(api.GET("/batches/{batch_name}", { params: of(name), signal }));
}

/** A page of members; of empty ones up to five are passed by. */
export function listMembers(
  name: string,
  status: Status | undefined,
  cursor: string | undefined,
  signal: AbortSignal,
) {
  const ask = (at: string | undefined) =>
    call(
      api.GET("/batches/{batch_name}/members", {
        params: { ...of(name), query: { status, limit: MEMBERS, cursor: at } },
        signal,
      }),
    );
  return readOn(ask, cursor, (read) => read.items.length === 0 && read.pages < EMPTY_PAGES);
}

export function closeBatch(name: string): Promise<Batch> {
  return call(api.POST("/batches/{batch_name}/close", { params: of(name) }));
}

/** The path of a batch. */
export function of(name: string) {
  return { path: { batch_name: name } };
}
