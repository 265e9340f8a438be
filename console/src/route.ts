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

/** Each entry of the history has a number, and the scroll position that it was left with. */
const positions = new Map<number, number>();
let entry = 0;
/** Where the way back, or forth, leads to; null on a way that is new. */
let returnTo: number | null = null;

history.scrollRestoration = "manual"; // the browser would restore before there is anything to scroll
history.replaceState({ entry }, "");
addEventListener("scroll", () => positions.set(entry, scrollY), { passive: true });
addEventListener("popstate", (event) => arrive((event.state as { entry?: number } | null)?.entry));

function arrive(known: number | undefined, to?: string): void {
  returnTo = known === undefined ? null : (positions.get(known) ?? 0);
  entry = known ?? Math.max(entry, ...positions.keys()) + 1;
  if (to !== undefined) history.pushState({ entry }, "", to);
  else if (known === undefined) history.replaceState({ entry }, "");
}

const RESTORED_WITHIN = 2_000;

/**
 * Scroll to where the way back leads to, as soon as the page is long enough, unless the reader scrolls. A new
 * way to another page begins at its top.
 */
export function restoreScroll(isOtherPage: boolean): void {
  if (returnTo === null) return isOtherPage ? scrollTo(0, 0) : undefined;
  const [goal, of, until] = [returnTo, entry, performance.now() + RESTORED_WITHIN];
  returnTo = null;
  let isScrolled = false;
  for (const kind of ["wheel", "touchstart", "keydown"]) {
    addEventListener(kind, () => (isScrolled = true), { once: true, passive: true });
  }
  const step = () => {
    if (entry !== of || isScrolled) return;
    scrollTo(0, goal);
    if (Math.abs(scrollY - goal) > 1 && performance.now() < until) requestAnimationFrame(step);
  };
  step();
}

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
  const text = new URLSearchParams(
    Object.entries(query)
      .filter(([, value]) => value !== null && value !== undefined && value !== "" && value !== false)
      .map(([name, value]) => [name, String(value)]),
  ).toString();
  return `#/${path.join("/")}${text ? `?${text}` : ""}`;
}

/** Goes there; with replace, the way back does not come by here. */
export function go(to: string, { replace = false } = {}): void {
  if (replace) {
    history.replaceState({ entry }, "", to);
    hash.value = location.hash;
  } else {
    if (to === location.hash) return;
    arrive(undefined, to);
    hash.value = location.hash;
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
