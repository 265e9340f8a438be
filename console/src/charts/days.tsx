// The weeks from a day on as a small calendar: which days something is due on, and where a clock is changed.

import { locale } from "../words";
import { say } from "./days.words";
import { daysAfter } from "../zones";

const CELL = 26;
const GAP = 3;
const HEAD = 18;
const WEEK = 7;

interface Props {
  /** The first day, as 2027-06-01, and how many there are. */
  first: string;
  count: number;
  /** How often it is due, by day. */
  due: Map<string, number>;
  /** Days on which a change of the clocks did something. */
  marked: Set<string>;
  /** The last day that was counted, where there were too many times. */
  known?: string;
}

export function Days({ first, count, due, marked, known }: Props) {
  const days = Array.from({ length: count }, (_, place) => daysAfter(first, place));
  const lead = (new Date(`${first}T00:00:00Z`).getUTCDay() + 6) % WEEK;
  const rows = Math.ceil((lead + count) / WEEK);
  const last = days.at(-1) ?? first;
  const step = CELL + GAP;
  const gist = known
    ? say("gist_known", { n: due.size, known: dayOf(known) })
    : say("gist", { n: due.size, all: count, from: dayOf(first), to: dayOf(last) });
  return (
    <svg
      class="days"
      role="img"
      aria-label={gist}
      width={WEEK * step}
      height={HEAD + rows * step}
      viewBox={`0 0 ${WEEK * step} ${HEAD + rows * step}`}
    >
      {Array.from({ length: WEEK }, (_, place) => (
        <text key={place} class="days-head" x={place * step + CELL / 2} y={HEAD - 7}>
          {weekday(place)}
        </text>
      ))}
      {days.map((day, place) => {
        const at = place + lead;
        const isUnknown = known !== undefined && day > known;
        const n = due.get(day) ?? 0;
        const title = isUnknown
          ? say("unknown", { day: dayOf(day) })
          : n > 0
            ? say("times", { day: dayOf(day), n })
            : say("none", { day: dayOf(day) });
        const state = isUnknown ? "is-unknown" : n > 0 ? "is-due" : "";
        return (
          <g
            key={day}
            class={`day ${state}`}
            transform={`translate(${(at % WEEK) * step} ${HEAD + Math.floor(at / WEEK) * step})`}
          >
            <title>{marked.has(day) ? `${title}; ${say("marked")}` : title}</title>
            <rect width={CELL} height={CELL} rx={5} />
            <text x={CELL / 2} y={CELL / 2 + 4}>
              {Number(day.slice(8))}
            </text>
            {marked.has(day) && <path class="day-mark" d={`M${CELL - 9} 0 h9 v9 z`} />}
          </g>
        );
      })}
    </svg>
  );
}

function dayOf(day: string): string {
  const shape = { weekday: "short", day: "numeric", month: "short", timeZone: "UTC" } as const;
  return new Intl.DateTimeFormat(locale.value, shape).format(new Date(`${day}T00:00:00Z`));
}

/** The weekday's letter, Monday first. */
function weekday(place: number): string {
  const monday = Date.UTC(2024, 0, 1);
  const shape = { weekday: "narrow", timeZone: "UTC" } as const;
  return new Intl.DateTimeFormat(locale.value, shape).format(monday + place * 86_400_000);
}
