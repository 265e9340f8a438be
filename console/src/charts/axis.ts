// Where times and lengths of time lie on a chart.

import { zone } from "../time";

/** A share of the whole as a coordinate that grows with the chart. */
export function percent(share: number): string {
  return `${(Math.min(Math.max(share, 0), 1) * 100).toFixed(3)}%`;
}

const QUARTER = 900_000;

/** The full hours of a span, each `every` hours of the shown zone's clock. */
export function hours(from: number, until: number, every: number): { at: number; hour: number }[] {
  const clock = new Intl.DateTimeFormat("en-GB", {
    timeZone: zone.value,
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  });
  const found: { at: number; hour: number }[] = [];
  for (let at = Math.ceil(from / QUARTER) * QUARTER; at < until; at += QUARTER) {
    const [hour = 0, minute] = clock.format(at).split(":").map(Number);
    if (minute === 0 && hour % every === 0) found.push({ at, hour });
  }
  return found;
}
