// The API's clock: due times are instants of it, and the reader's clock may be minutes off.

import { signal } from "@preact/signals";

/** Milliseconds; a `Date` header is cut to seconds, and a response takes a while. */
const TOLERATED = 5_000;
const CUT_TO = 1_000;

let ahead = 0; // of the reader's clock, in milliseconds

/** Learn from the `Date` header of a response how far the reader's clock is off. */
export function learnFrom(date: string | null): void {
  const served = Date.parse(date ?? "");
  if (Number.isNaN(served)) return;
  const difference = served + CUT_TO / 2 - Date.now();
  ahead = Math.abs(difference) > TOLERATED ? difference : 0;
}

/** The present instant of the API's clock, in milliseconds. */
export function present(): number {
  return toApiClock(Date.now());
}

/** An instant of the reader's clock on the API's clock, in milliseconds. */
export function toApiClock(at: number): number {
  return at + ahead;
}

/** The API's clock, to the second, for countdowns; it stops in a hidden tab. */
export const now = signal(present());
setInterval(() => {
  if (!document.hidden) now.value = present();
}, 1_000);
