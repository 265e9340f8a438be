// How late runs began, a dot for each: the higher, the later; each line is ten times the one below it, or
// near to that.

import { span, written } from "../time";
import { percent } from "./axis";
import { mine } from "./lateness.words";

export interface Dot {
  id: string;
  what: string;
  at: number;
  late: number;
}

interface LatenessProps {
  from: number;
  until: number;
  /** In order of lateness. */
  dots: Dot[];
}

const LINES = [10, 100, 1_000, 10_000, 60_000, 600_000, 3_600_000];
const LOWEST = 10;
const HIGH = 130;
const FOOT = 22;
const HEAD = 16;
const QUARTER = 900_000;

/** That half of them began within. */
export function median(dots: Dot[]): number {
  const middle = (dots.length - 1) / 2;
  return ((dots[Math.floor(middle)]?.late ?? 0) + (dots[Math.ceil(middle)]?.late ?? 0)) / 2;
}

export function Lateness({ from, until, dots }: LatenessProps) {
  const worst = dots.at(-1)?.late ?? 0;
  const top = LINES.find((each) => each >= Math.max(worst, 10_000)) ?? worst;
  const height = (late: number) =>
    HEAD + HIGH * (1 - Math.log(Math.max(late, LOWEST) / LOWEST) / Math.log(top / LOWEST));
  const label = mine("gist", { n: dots.length, median: span(median(dots)), worst: span(worst) });
  const marks = [0, 1, 2, 3].map((each) => from + each * QUARTER);
  return (
    <figure class="figure-chart">
      <svg class="chart" height={HEAD + HIGH + FOOT} role="img" aria-label={label}>
        {LINES.filter((each) => each <= top).map((each) => (
          <g key={each}>
            <line class="axis" x1="0" x2="100%" y1={height(each)} y2={height(each)} />
            <text x="0" y={height(each) - 4}>
              {span(each)}
            </text>
          </g>
        ))}
        {marks.map((each) => (
          <text x={percent((each - from) / (until - from))} y={HEAD + HIGH + 16} key={each}>
            {written(each, "minute")}
          </text>
        ))}
        {dots.map((each) => (
          <circle
            class="dot-mark"
            cx={percent((each.at - from) / (until - from))}
            cy={height(each.late)}
            r="3"
            key={each.id}
          >
            <title>
              {mine("dot", { what: each.what, late: span(each.late), at: written(each.at, "clock") })}
            </title>
          </circle>
        ))}
      </svg>
    </figure>
  );
}
