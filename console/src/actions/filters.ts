// Which actions are meant, as the address says it and as the API takes it; times are instants in both.

import type { Query } from "../route";
import type { Unusable } from "../ui/unusable";
import { zone } from "../time";
import { instantOfField, offsetAt } from "../zones";
import { STATUS_FILTERS, type StatusFilter } from "../words/shared";

export const TIMES = ["due_after", "due_until", "created_after", "created_until"] as const;
export type TimeName = (typeof TIMES)[number];
export const TEXTS = ["correlation_id", "type", "job", "error", "payload"] as const;
type TextName = (typeof TEXTS)[number];

export type Filters = { status?: StatusFilter[] } & Partial<Record<TextName | TimeName, string>>;

/** The filters as the API takes them: several payload fields are a list, and the page has one. */
export function inRequest({ payload, ...others }: Filters) {
  return payload === undefined ? others : { ...others, payload: [payload] };
}

/** The filters of an address, and what in it is none. */
export function readFilters(query: URLSearchParams): { filters: Filters; unusable: Unusable[] } {
  const filters: Filters = {};
  const unusable: Unusable[] = [];
  for (const [name, value] of query) {
    const text = value.trim();
    if (!text) continue;
    const isRepeated = filters[name as keyof Filters] !== undefined;
    if (isRepeated || !take(filters, name, text)) unusable.push({ name, value });
  }
  return { filters, unusable };
}

/** Add a filter, if it is one. */
function take(filters: Filters, name: string, text: string): boolean {
  if (isOneOf(TEXTS, name)) {
    filters[name] = text;
    return true;
  }
  if (isOneOf(TIMES, name)) {
    filters[name] = instantIn(text);
    return filters[name] !== undefined;
  }
  const statuses = text.split(",");
  if (name !== "status" || !statuses.every((status) => isOneOf(STATUS_FILTERS, status))) return false;
  filters.status = STATUS_FILTERS.filter((status) => statuses.includes(status));
  return true;
}

function isOneOf<T extends string>(names: readonly T[], name: string): name is T {
  return (names as readonly string[]).includes(name);
}

const DAY_AND_TIME = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:?\d\d)?)?$/;

/** An instant in ISO 8601, as the API takes it; without an offset it is in the shown zone. */
function instantIn(text: string): string | undefined {
  const [, day, time = "00:00", offset] = DAY_AND_TIME.exec(text) ?? [];
  if (!day) return undefined;
  if (!offset) return instantOf(`${day}T${time}`);
  const at = new Date(`${day}T${time}${offset}`);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}

/** Whether the runs of jobs are among those that the filters mean: of one job, and among the failed ones. */
export function includesRuns({ job, status }: Filters): boolean {
  return job !== undefined || (status?.length === 1 && status[0] === "failed");
}

/** The filters for an address. */
export function inAddress({ status, ...others }: Filters): Query {
  return { ...others, status: status?.join(",") };
}

/** The filters as options of the command line. */
export function optionsOf(filters: Filters): string[] {
  return Object.entries(inAddress(filters)).flatMap(([name, value]) =>
    value ? [`--${name.replaceAll("_", "-")}`, String(value)] : [],
  );
}

export function isAny(filters: Filters): boolean {
  return Object.values(filters).some((each) => each !== undefined && each.length > 0);
}

/** What a field of date and time says in the shown zone, as an instant; undefined where it says nothing. */
export function instantOf(local: string): string | undefined {
  if (!local) return undefined;
  const at = instantOfField(zone.value, local);
  return Number.isNaN(at) ? undefined : new Date(at).toISOString();
}

/** An instant as a field of date and time takes it, in the shown zone. */
export function localOf(instant: string | undefined): string {
  if (!instant) return "";
  const at = Date.parse(instant);
  const text = new Date(at + offsetAt(zone.value, at)).toISOString();
  return text.slice(0, text.slice(17, 19) === "00" ? 16 : 19);
}
