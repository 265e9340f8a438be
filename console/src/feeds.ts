// How up to date the page is: of each thing that it loads again and again, when it was last loaded.

import { signal } from "@preact/signals";
import { now } from "./clock";

export interface Feed {
  /** When it was last loaded, in milliseconds; 0 before that. */
  at: number;
  /** How often it is loaded, in milliseconds; infinite if once. */
  every: number;
  isFailing: boolean;
}

const feeds = signal<ReadonlyMap<symbol, Feed>>(new Map());

export function setFeed(id: symbol, feed: Feed): void {
  feeds.value = new Map(feeds.peek()).set(id, feed);
}

export function removeFeed(id: symbol): void {
  const left = new Map(feeds.peek());
  left.delete(id);
  feeds.value = left;
}

/** Whether two polls have passed since it was loaded. */
export function isOld({ at, every }: Pick<Feed, "at" | "every">): boolean {
  return at > 0 && now.value - at > 2 * every;
}

export type Freshness = { kind: "live" | "loading" | "failing" } | { kind: "old"; age: number };

/** The state of the page: that of its worst feed. */
export function freshness(): Freshness {
  const all = [...feeds.value.values()];
  if (all.some((feed) => feed.isFailing)) return { kind: "failing" };
  const old = all.filter(isOld);
  if (old.length > 0) return { kind: "old", age: now.value - Math.min(...old.map((feed) => feed.at)) };
  return { kind: all.length === 0 || all.some((feed) => feed.at === 0) ? "loading" : "live" };
}
