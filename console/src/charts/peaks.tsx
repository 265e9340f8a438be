// The fullest minute of each hour of some days as bars, with a limit. Bars beyond it are hatched, too.

import { dayKey, written } from "../time";
import { number } from "../words";
import { percent } from "./axis";
import { Hatch } from "./hatch";

interface Peak {
  /** The begin of the hour. */
  at: string;
  peak_at: string;
  peak: number;
}

interface PeaksProps {
  from: number;
  until: number;
  peaks: Peak[];
  limit: number;
  label: string;
  limitLabel: string;
  /** What a bar says. */
  textOf: (peak: Peak) => string;
}

const HOUR = 3_600_000;
const HIGH = 130;
const FOOT = 22;
const HEAD = 16;

export function Peaks({ from, until, peaks, limit, label, limitLabel, textOf }: PeaksProps) {
  const start = Math.floor(from / HOUR) * HOUR;
  const length = Math.ceil(until / HOUR) * HOUR - start;
  const highest = peaks.reduce((most, { peak }) => Math.max(most, peak), 0);
  const most = Math.max(limit, highest) * 1.1;
  const bottom = HEAD + HIGH;
  const level = bottom - (limit / most) * HIGH;
  return (
    <figure class="figure-chart">
      <svg class="chart" height={bottom + FOOT} role="img" aria-label={label}>
        <defs>
          <Hatch id="peak-hatch" />
        </defs>
        <line class="axis" x1="0" x2="100%" y1={bottom} y2={bottom} />
        {peaks.map((peak) => {
          const high = Math.max((peak.peak / most) * HIGH, 1);
          return (
            <rect
              class={peak.peak > limit ? "peak is-over" : "mark"}
              x={percent((Date.parse(peak.at) - start) / length)}
              width={percent((0.8 * HOUR) / length)}
              y={bottom - high}
              height={high}
              key={peak.at}
            >
              <title>{textOf(peak)}</title>
            </rect>
          );
        })}
        <line class="limit" x1="0" x2="100%" y1={level} y2={level} />
        <text x="0" y={level - 4}>
          {limitLabel}
        </text>
        {highest > limit * 1.2 && (
          <text x="100%" y={bottom - (highest / most) * HIGH - 4} text-anchor="end">
            {number(highest)}
          </text>
        )}
        {days(start, start + length).map((at, place) => (
          <text
            class={place % 2 === 1 ? "is-minor" : undefined}
            x={percent((at - start) / length)}
            y={bottom + 16}
            key={at}
          >
            {written(at, "weekday")}
          </text>
        ))}
      </svg>
    </figure>
  );
}

/** The hours with which the days of the shown zone begin. */
function days(from: number, until: number): number[] {
  const found: number[] = [];
  for (let at = from + HOUR; at < until - 6 * HOUR; at += HOUR) {
    if (dayKey(at) !== dayKey(at - HOUR)) found.push(at);
  }
  return found;
}
