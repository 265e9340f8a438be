// Where the reader is: what follows the # of the address, such as #/actions?status=failed. Mails lead here,
// too.

import { computed, signal } from "@preact/signals";

export interface Place {
  /** The parts of the path: ["actions", "ID"]. */
  parts: string[];
  /** What is asked of the place: filters, and the like. */
  query: URLSearchParams;
}

const hash = signal(location.hash);
addEventListener("hashchange", () => {
  hash.value = location.hash;
});

export const place = computed<Place>(() => {
  const [path = "", query = ""] = hash.value.replace(/^#\/?/, "").split("?", 2);
  return { parts: path.split("/").filter(Boolean).map(decoded), query: new URLSearchParams(query) };
});

export type Query = Record<string, string | number | boolean | null | undefined>;

/** The address of a place: href("actions", id), href("actions", { status: "failed" }). */
export function href(...parts: (string | Query)[]): string {
  const last = parts.at(-1);
  const query = typeof last === "object" ? last : {};
  const path = parts.filter((each) => typeof each === "string").map(encodeURIComponent);
  const asked = new URLSearchParams(
    Object.entries(query)
      .filter(([, value]) => value !== null && value !== undefined && value !== "" && value !== false)
      .map(([name, value]) => [name, String(value)]),
  ).toString();
  return `#/${path.join("/")}${asked ? `?${asked}` : ""}`;
}

/** Goes there; with replace, the way back does not come by here. */
export function go(to: string, { replace = false } = {}): void {
  if (replace) {
    history.replaceState(null, "", to);
    hash.value = location.hash;
  } else {
    location.hash = to;
    hash.value = location.hash; // the event comes later
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
