// Upcoming runs, a line for each job: a tick at each time, a band where ticks would overlap.

import { now } from "../clock";
import { brief, Time, written } from "../time";
import { hours, percent } from "./axis";
import { mine } from "./timeline.words";

export interface TimelineRow {
  key: string;
  label: string;
  to: string;
  /** The first of them, in order. */
  times: string[];
  /** How many there are, and whether even more. */
  count: number;
  more: boolean;
}

interface TimelineProps {
  from: number;
  until: number;
  rows: TimelineRow[];
}

export function Timeline({ from, until, rows }: TimelineProps) {
  const share = (at: number) => (at - from) / (until - from);
  const marks = hours(from, until, 3);
  const labelled = marks.filter((each) => share(each.at) > AT_NOW && share(each.at) < 0.97);
  return (
    <div class="timeline">
      <div class="timeline-row timeline-head" aria-hidden="true">
        <span />
        <svg class="chart" height="20">
          <text x="0" y="14">
            {mine("now")}
          </text>
          {labelled.map((each) => (
            <text
              class={each.hour % 6 === 0 && share(each.at) > 0.3 ? undefined : "is-minor"}
              x={percent(share(each.at))}
              y="14"
              text-anchor="middle"
              key={each.at}
            >
              {written(each.at, each.hour === 0 ? "weekday" : "minute")}
            </text>
          ))}
        </svg>
      </div>
      <ul class="bare">
        {rows.map((row) => (
          <li class="timeline-row" key={row.key}>
            <span class="timeline-label">
              <a href={row.to}>{row.label}</a>
              <small>
                <Next row={row} /> · {often(row)}
              </small>
            </span>
            <svg class="chart" height="28" role="img" aria-label={gist(row)}>
              {marks.map((each) => {
                const x = percent(share(each.at));
                return (
                  <line
                    class={each.hour === 0 ? "axis is-day" : "axis"}
                    x1={x}
                    x2={x}
                    y1="0"
                    y2="28"
                    key={x}
                  />
                );
              })}
              <line class="axis" x1="0" x2="100%" y1="14" y2="14" />
              {clusters(row, until, (until - from) * NEAR).map((each) => (
                <Mark each={each} share={share} key={each.from} />
              ))}
            </svg>
          </li>
        ))}
      </ul>
      <AsList rows={rows} />
    </div>
  );
}

/** The first time that has not passed since it was asked for. */
function Next({ row: { times } }: { row: TimelineRow }) {
  const at = times.find((each) => Date.parse(each) > now.value) ?? times.at(-1);
  return at ? <Time at={at} as="away" /> : null;
}

/** So far the word for now reaches. */
const AT_NOW = 0.11;

/** Closer than this share of the whole, two ticks are one band. */
const NEAR = 0.007;

interface Cluster {
  from: number;
  to: number;
  count: number;
  /** Whether more times follow that are not listed. */
  isOpen: boolean;
}

function clusters(row: TimelineRow, until: number, near: number): Cluster[] {
  const found: Cluster[] = [];
  for (const at of row.times.map((each) => Date.parse(each))) {
    const last = found.at(-1);
    if (last && at - last.to < near) {
      last.to = at;
      last.count += 1;
    } else {
      found.push({ from: at, to: at, count: 1, isOpen: false });
    }
  }
  const last = found.at(-1);
  if (last && (row.more || row.count > row.times.length)) {
    last.to = until;
    last.isOpen = true;
  }
  return found;
}

function Mark({ each, share }: { each: Cluster; share: (at: number) => number }) {
  const x = percent(share(each.from));
  if (each.count === 1 && !each.isOpen) {
    return (
      <line class="tick" x1={x} x2={x} y1="5" y2="23">
        <title>{brief(each.from)}</title>
      </line>
    );
  }
  const values = { n: each.count, from: brief(each.from), until: brief(each.to) };
  return (
    <rect
      class="band"
      x={x}
      y="8"
      height="12"
      width={percent(Math.max(share(each.to) - share(each.from), 0.004))}
    >
      <title>{mine(each.isOpen ? "band_on" : "band", values)}</title>
    </rect>
  );
}

function often({ count, more }: TimelineRow): string {
  return mine(more ? "times_more" : "times", { n: count });
}

function gist(row: TimelineRow): string {
  return mine("row", { label: row.label, times: often(row), first: brief(row.times[0] ?? 0) });
}

const LABELLED = 5;

function AsList({ rows }: { rows: TimelineRow[] }) {
  return (
    <details>
      <summary>{mine("as_list")}</summary>
      <table class="folds">
        <tbody>
          {rows.map((row) => (
            <tr key={row.key}>
              <th scope="row">{row.label}</th>
              <td>
                {row.times.slice(0, LABELLED).map((each, place) => (
                  <span key={each}>
                    {place > 0 && ", "}
                    <Time at={each} />
                  </span>
                ))}
                {row.count > LABELLED && " …"}
              </td>
              <td>{often(row)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
