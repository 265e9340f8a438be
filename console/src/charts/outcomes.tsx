// How many runs ended within each five minutes of an hour, and how: failed ones lie below, hatched, where one
// sees them.

import { written } from "../time";
import { number } from "../words";
import { percent } from "./axis";
import { mine } from "./outcomes.words";
import { Hatch } from "./hatch";

const KINDS = ["failed", "other", "executed"] as const;
type Kind = (typeof KINDS)[number];
const STEP = 300_000;
const BARS = 12;
const HIGH = 130;
const FOOT = 22;
const HEAD = 16;

/** How many runs ended at about an instant. */
export interface Outcome extends Record<Kind, number> {
  at: number;
}

interface OutcomesProps {
  /** The end of the hour. */
  at: number;
  ended: Outcome[];
}

type Bar = Record<Kind, number> & { from: number };

export function Outcomes({ at, ended }: OutcomesProps) {
  const bars = barsOf(at, ended);
  const most = 2 * Math.ceil(Math.max(4, ...bars.map(sum)) / 2);
  const totals = { failed: 0, other: 0, executed: 0 };
  for (const bar of bars) for (const kind of KINDS) totals[kind] += bar[kind];
  return (
    <figure class="figure-chart">
      <svg class="chart" height={HEAD + HIGH + FOOT} role="img" aria-label={mine("gist", totals)}>
        <defs>
          <Hatch id="hatch" />
        </defs>
        {[0, 0.5, 1].map((each) => (
          <g key={each}>
            <line class="axis" x1="0" x2="100%" y1={HEAD + HIGH * (1 - each)} y2={HEAD + HIGH * (1 - each)} />
            {each > 0 && (
              <text x="0" y={HEAD + HIGH * (1 - each) - 4}>
                {number(most * each)}
              </text>
            )}
          </g>
        ))}
        {bars.map((bar, place) => (
          <Column bar={bar} place={place} most={most} key={bar.from} />
        ))}
      </svg>
      <Legend totals={totals} />
    </figure>
  );
}

function Column({ bar, place, most }: { bar: Bar; place: number; most: number }) {
  let below = 0;
  const x = percent((place + 0.14) / BARS);
  const times = { from: written(bar.from, "minute"), to: written(bar.from + STEP, "minute") };
  return (
    <g>
      <title>{mine("bar", { ...times, failed: bar.failed, other: bar.other, executed: bar.executed })}</title>
      {KINDS.map((kind) => {
        const high = (bar[kind] / most) * HIGH;
        below += high;
        return (
          high > 0 && (
            <rect
              class={`outcome is-${kind}`}
              x={x}
              width={percent(0.72 / BARS)}
              y={HEAD + HIGH - below}
              height={high}
              key={kind}
            />
          )
        );
      })}
      {place % 3 === 0 && (
        <text x={percent(place / BARS)} y={HEAD + HIGH + 16}>
          {times.from}
        </text>
      )}
    </g>
  );
}

function Legend({ totals }: { totals: Record<Kind, number> }) {
  return (
    <ul class="legend">
      {[...KINDS].reverse().map((kind) => (
        <li key={kind}>
          <svg width="12" height="12" aria-hidden="true">
            <rect class={`outcome is-${kind}`} width="12" height="12" />
          </svg>{" "}
          {number(totals[kind])} {mine(kind)}
        </li>
      ))}
    </ul>
  );
}

function barsOf(at: number, ended: Outcome[]): Bar[] {
  const end = Math.ceil(at / STEP) * STEP;
  const start = end - BARS * STEP;
  const bars = Array.from({ length: BARS }, (_, place) => ({
    from: start + place * STEP,
    failed: 0,
    other: 0,
    executed: 0,
  }));
  for (const each of ended) {
    const bar = bars[Math.floor((each.at - start) / STEP)];
    if (bar) for (const kind of KINDS) bar[kind] += each[kind];
  }
  return bars;
}

function sum(bar: Bar): number {
  return KINDS.reduce((all, kind) => all + bar[kind], 0);
}
