// Which actions are meant, as the address says it and as the API takes it; times are instants in both.

import { type Query, place } from "../route";
import { zone } from "../time";
import { STATUSES, type Status } from "../words/shared";

export const TIMES = ["due_after", "due_until", "created_after", "created_until"] as const;
export type TimeName = (typeof TIMES)[number];
export const TEXTS = ["correlation_id", "type", "job"] as const;
type TextName = (typeof TEXTS)[number];

export type Filters = { status?: Status[] } & Partial<Record<TextName | TimeName, string>>;

/** What the address says; what it says wrongly is passed by. */
export function readFilters(query: URLSearchParams): Filters {
  const filters: Filters = {};
  for (const name of TEXTS) {
    const said = query.get(name)?.trim();
    if (said) filters[name] = said;
  }
  for (const name of TIMES) {
    const at = new Date(query.get(name) ?? "");
    if (!Number.isNaN(at.getTime())) filters[name] = at.toISOString();
  }
  const statuses = (query.get("status") ?? "").split(",");
  const status = STATUSES.filter((each) => statuses.includes(each));
  if (status.length > 0) filters.status = status;
  return filters;
}

/** The filters of where the reader is, and the page that is asked for. */
export function asked(): { filters: Filters; cursor: string | undefined; key: string } {
  const { query } = place.value;
  return { filters: readFilters(query), cursor: query.get("cursor") ?? undefined, key: query.toString() };
}

/** The filters for an address. */
export function inAddress({ status, ...others }: Filters): Query {
  return { ...others, status: status?.join(",") };
}

export function isAny(filters: Filters): boolean {
  return Object.values(filters).some((each) => each !== undefined && each.length > 0);
}

/** What a field of date and time says in the shown zone, as an instant; undefined where it says nothing. */
export function instantOf(local: string): string | undefined {
  if (!local) return undefined;
  const at = new Date(zone.value === "UTC" ? `${local}Z` : local);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}

/** An instant as a field of date and time takes it, in the shown zone. */
export function localOf(instant: string | undefined): string {
  if (!instant) return "";
  const at = new Date(instant);
  const moved = zone.value === "UTC" ? at : new Date(at.getTime() - at.getTimezoneOffset() * 60_000);
  const text = moved.toISOString();
  return text.slice(0, text.slice(17, 19) === "00" ? 16 : 19);
}
