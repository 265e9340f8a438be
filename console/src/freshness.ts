// How up to date the page is: the state of the worst of its queries.

import { signal } from "@preact/signals";
import { now } from "./clock";
import { isOld, isOpen, loadedAt, lastProblem, queries } from "./query";

export type Freshness = { kind: "live" | "loading" | "failing" } | { kind: "old"; age: number };

/** Whether a response could not be shown. */
export const isBroken = signal(false);

const changes = signal(0);
queries.subscribe(({ type }) => {
  if (["observerAdded", "observerRemoved", "updated"].includes(type)) changes.value += 1;
});

export function freshness(): Freshness {
  changes.value;
  const open = queries.getAll().filter(isOpen);
  if (isBroken.value || open.some(lastProblem)) return { kind: "failing" };
  const old = open.filter(isOld);
  if (old.length > 0) return { kind: "old", age: now.value - Math.min(...old.map(loadedAt)) };
  return { kind: open.length === 0 || open.some((query) => loadedAt(query) === 0) ? "loading" : "live" };
}
