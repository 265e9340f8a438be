// How often something happened over time: a bar for each hour or day, the latest at the right.

import { brief } from "../time";
import { mine } from "./trend.words";

const HOUR = 3_600_000;
const STEPS = [HOUR, 6 * HOUR, 24 * HOUR, 7 * 24 * HOUR];
const ROOM = 24;
const WIDE = 4;
const HIGH = 20;

/** So many equal steps up to now, of the shortest length that covers all times, or the latest. */
export function counted(times: number[], until: number): { step: number; counts: number[] } {
  const first = Math.min(...times);
  const longest = STEPS.at(-1) ?? HOUR;
  const step = STEPS.find((length) => first > until - length * ROOM) ?? longest;
  const counts = Array.from({ length: ROOM }, () => 0);
  for (const at of times) {
    const place = ROOM - 1 - Math.floor(Math.max(0, until - at) / step);
    if (place >= 0) counts[place] = (counts[place] ?? 0) + 1;
  }
  return { step, counts };
}

export function Trend({ times, until }: { times: number[]; until: number }) {
  const { step, counts } = counted(times, until);
  const most = Math.max(...counts, 1);
  const width = ROOM * (WIDE + 1);
  const gist = mine(step < 24 * HOUR ? "hours" : "days", {
    most,
    n: step < 24 * HOUR ? step / HOUR : step / (24 * HOUR),
    from: brief(until - ROOM * step),
  });
  return (
    <svg
      class="spark trend"
      role="img"
      aria-label={gist}
      width={width}
      height={HIGH}
      viewBox={`0 0 ${width} ${HIGH}`}
    >
      <title>{gist}</title>
      <line class="axis" x1="0" x2={width} y1={HIGH - 0.5} y2={HIGH - 0.5} />
      {counts.map((count, place) => {
        const high = count === 0 ? 0 : Math.max(2, (count / most) * (HIGH - 1));
        return <rect key={place} x={place * (WIDE + 1)} y={HIGH - high} width={WIDE} height={high} />;
      })}
    </svg>
  );
}
