// A job's times by day: a month of them, or the hours of one day where there are too many, and the chosen
// ones as a list.

import { present as presentInstant } from "../../clock";
import { useState } from "preact/hooks";
import { useQuery } from "../../query";
import { go, href, place } from "../../route";
import { dayKey, written, zone } from "../../time";
import { Part } from "../../ui/page";
import { Failure } from "../../ui/states";
import {
  accountsInParts,
  type Counts,
  counted,
  GROUPS,
  type Job,
  type Scale,
  scaleOf,
  spreadOut,
  timesOf,
  partsOf,
} from "./accounts";
import { type Cell, Cells, MARKS } from "./cells";
import { say } from "./calendar.words";
import {
  columnOf,
  dayName,
  daysOfMonth,
  isDay,
  justBefore,
  plusDays,
  plusMonths,
  startOf,
  today,
  weekdays,
} from "./days";
import { Times } from "./times";

const HOUR = 3_600_000;
const CALLS = 4;

/** What is chosen is in the address; what else is there stays. */
function choose(job: Job, chosen: { day: string; hour?: string }): void {
  const { hour: _, ...query } = Object.fromEntries(place.value.query);
  go(href("jobs", job.name, { ...query, ...chosen }), { replace: true });
}

export function Calendar({ job }: { job: Job }) {
  const [scale] = useState(() => scaleOf(job));
  const chosen = place.value.query.get("day");
  const day = isDay(chosen) ? chosen : today();
  const isMonth = scale === "month";
  const step = (by: number) => choose(job, { day: isMonth ? plusMonths(day, by) : plusDays(day, by) });
  return (
    <Part
      title={say("title")}
      aside={
        <div class="calendar-steps">
          <button type="button" aria-label={say(isMonth ? "before" : "day_before")} onClick={() => step(-1)}>
            ‹
          </button>
          <button type="button" onClick={() => choose(job, { day: today() })}>
            {say("today")}
          </button>
          <button type="button" aria-label={say(isMonth ? "after" : "day_after")} onClick={() => step(1)}>
            ›
          </button>
        </div>
      }
    >
      {!isMonth && <p class="muted">{say(scale === "day" ? "frequent" : "very_frequent")}</p>}
      {isMonth ? <Month job={job} day={day} /> : <Hours job={job} day={day} scale={scale} />}
    </Part>
  );
}

function Month({ job, day }: { job: Job; day: string }) {
  const days = daysOfMonth(day);
  const [first = day, last = day] = [days[0], days.at(-1)];
  const { counts, below } = useCounts(job, "month", days, startOf(first), startOf(plusDays(last, 1)), dayKey);
  const cells: Cell[] = days.map((each) => ({
    key: each,
    label: String(Number(each.slice(8))),
    name: dayName(each),
    counts: counts?.get(each),
    isNow: each === today(),
  }));
  return (
    <div class="calendar">
      <div class="calendar-grid">
        <h3 aria-live="polite">{dayName(day, "month")}</h3>
        <Cells
          label={dayName(day, "month")}
          cells={cells}
          columns={7}
          heads={weekdays()}
          offset={columnOf(first)}
          chosen={day}
          choose={(each) => choose(job, { day: each })}
          beyond={(from, step) => {
            const to = plusDays(from, step);
            choose(job, { day: to });
            return to;
          }}
        />
        {below}
      </div>
      <Times job={job} title={dayName(day)} start={startOf(day)} end={startOf(plusDays(day, 1))} key={day} />
    </div>
  );
}

function Hours({ job, day, scale }: { job: Job; day: string; scale: Scale }) {
  const [start, end] = [startOf(day), startOf(plusDays(day, 1))];
  const keyOf = (at: number) => String(Math.floor((at - start) / HOUR)).padStart(2, "0");
  const hours = Array.from({ length: Math.ceil((end - start) / HOUR) }, (_, hour) =>
    String(hour).padStart(2, "0"),
  );
  const { counts, below } = useCounts(job, scale, hours, start, end, keyOf);
  const chosen = place.value.query.get("hour") ?? "";
  const present = day === today() ? keyOf(presentInstant()) : "00";
  const hour = hours.includes(chosen) ? chosen : present;
  const at = (key: string) => start + Number(key) * HOUR;
  const cells: Cell[] = hours.map((each) => ({
    key: each,
    label: written(at(each), "minute"),
    name: `${written(at(each), "minute")}–${written(at(each) + HOUR, "minute")}`,
    counts: counts?.get(each),
    isNow: day === today() && each === present,
  }));
  return (
    <div class="calendar">
      <div class="calendar-grid">
        <h3 aria-live="polite">{dayName(day)}</h3>
        <Cells
          label={dayName(day)}
          cells={cells}
          columns={6}
          chosen={hour}
          choose={(each) => choose(job, { day, hour: each })}
        />
        {below}
      </div>
      <Times
        job={job}
        title={`${dayName(day)}, ${cells[Number(hour)]?.name}`}
        start={at(hour)}
        end={Math.min(end, at(hour) + HOUR)}
        key={day + hour}
      />
    </div>
  );
}

/** The counts of each cell, and what is to be said below them. */
export function useCounts(
  job: Job,
  scale: Scale,
  keys: string[],
  start: number,
  end: number,
  keyOf: (at: number) => string,
) {
  const isOver = end < presentInstant() - 24 * HOUR;
  const live = useQuery(
    async (signal) => {
      if (scale === "hour") return null;
      const reads = { parts: partsOf(job, end - start), calls: CALLS };
      const found = await accountsInParts(job.name, [justBefore(start), justBefore(end)], reads, signal);
      const times = scale === "month" ? await timesOf(job, spreadOut(found.entries, keyOf), signal) : [];
      return { counts: counted(job, found.entries, times, keyOf, keys), cutAt: found.cutAt };
    },
    ["calendar", job.name, job.version, scale, start, zone.value].join(" "),
    isOver ? Number.POSITIVE_INFINITY : 60_000,
  );
  const counts: Map<string, Counts> | undefined = live.value?.counts;
  const below = (
    <>
      {live.problem && <Failure problem={live.problem} retry={live.refresh} />}
      {live.value?.cutAt && <p class="muted">{say("cut", { at: written(live.value.cutAt) })}</p>}
      {scale !== "hour" && <Legend />}
    </>
  );
  return { counts, below };
}

function Legend() {
  return (
    <ul class="calendar-legend" aria-label={say("legend")}>
      {GROUPS.map((each) => (
        <li key={each}>
          <span class={`mark-of is-${each}`} aria-hidden="true">
            {MARKS[each]}
          </span>{" "}
          {say(each)}
        </li>
      ))}
    </ul>
  );
}
