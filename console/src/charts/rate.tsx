// The ended runs of a job within the last hour as bars of three minutes, by the API's counts: how high says how
// many. Failed ones lie below in their colour, with a cross above the bar.

import { written } from "../time";
import { mine } from "./rate.words";

interface RateProps {
  /** Ended runs in each minute, the oldest first. */
  ended: number[];
  /** How many of them failed. */
  failed: number[];
  /** The begin of the first minute, in milliseconds. */
  since: number;
  /** Whose runs these are: begins what a screen reader says. */
  label: string;
}

const MINUTES = 3;
const STEP = 5;
const WIDE = 4;
const HIGH = 20;
const ABOVE = 6;

export function Rate({ ended, failed, since, label }: RateProps) {
  const [all, bad] = [inBars(ended), inBars(failed)];
  const most = Math.max(1, ...all);
  const width = all.length * STEP;
  return (
    <svg
      class="spark"
      role="img"
      aria-label={mine("gist", { label, n: sum(ended), failed: sum(failed) })}
      width={width}
      height={HIGH + ABOVE}
      viewBox={`0 0 ${width} ${HIGH + ABOVE}`}
    >
      <line class="axis" x1="0" x2={width} y1={HIGH + ABOVE - 0.5} y2={HIGH + ABOVE - 0.5} />
      {all.map((n, place) => (
        <Bar
          key={place}
          n={n}
          failed={bad[place] ?? 0}
          most={most}
          x={place * STEP + (STEP - WIDE) / 2}
          from={since + place * MINUTES * 60_000}
        />
      ))}
    </svg>
  );
}

interface BarProps {
  n: number;
  failed: number;
  most: number;
  x: number;
  from: number;
}

function Bar({ n, failed, most, x, from }: BarProps) {
  if (n === 0) return null;
  const high = Math.max(1, (n / most) * HIGH);
  const low = failed === 0 ? 0 : Math.max(1, (failed / most) * HIGH);
  const top = HIGH + ABOVE - high;
  const arm = WIDE / 2;
  const times = { from: written(from, "minute"), to: written(from + MINUTES * 60_000, "minute") };
  return (
    <g>
      <title>{mine("bar", { ...times, n, failed })}</title>
      <g class="is-executed">
        <rect x={x} y={top} width={WIDE} height={high} />
      </g>
      {failed > 0 && (
        <g class="is-failed">
          <rect x={x} y={HIGH + ABOVE - low} width={WIDE} height={low} />
          <path
            class="cross"
            d={`M${x} ${top - 2 * arm - 2}l${WIDE} ${WIDE}m0 ${-WIDE}l${-WIDE} ${WIDE}`}
            aria-hidden="true"
          />
        </g>
      )}
    </g>
  );
}

function inBars(counts: number[]): number[] {
  const bars = new Array<number>(Math.ceil(counts.length / MINUTES)).fill(0);
  counts.forEach((n, minute) => {
    const place = Math.floor(minute / MINUTES);
    bars[place] = (bars[place] ?? 0) + n;
  });
  return bars;
}

function sum(counts: number[]): number {
  return counts.reduce((all, n) => all + n, 0);
}
