// Where times and lengths of time lie on a chart.

import { zone } from "../time";

/** A share of the whole as a coordinate that grows with the chart. */
export function percent(share: number): string {
  return `${(Math.min(Math.max(share, 0), 1) * 100).toFixed(3)}%`;
}

const QUARTER = 900_000;

/** The full hours of a span, each `every` hours of the shown zone's clock; midnights are told apart. */
export function hours(from: number, until: number, every: number): { at: number; isMidnight: boolean }[] {
  const clock = new Intl.DateTimeFormat("en-GB", {
    timeZone: zone.value,
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  });
  const found: { at: number; isMidnight: boolean }[] = [];
  for (let at = Math.ceil(from / QUARTER) * QUARTER; at < until; at += QUARTER) {
    const [hour, minute] = clock.format(at).split(":").map(Number);
    if (minute === 0 && (hour ?? 0) % every === 0) found.push({ at, isMidnight: hour === 0 });
  }
  return found;
}
