// The days of a backfill, chosen on the job's calendar: the first click begins a range, the second ends it.

import { useState } from "preact/hooks";
import { dayKey } from "../../time";
import { type Job, scaleOf } from "./accounts";
import { say } from "./backfills.words";
import { useCounts } from "./calendar";
import { say as steps } from "./calendar.words";
import { Cells } from "./cells";
import { columnOf, dayName, daysOfMonth, plusDays, plusMonths, startOf, today, weekdays } from "./days";

interface Props {
  job: Job;
  first: string;
  last: string;
  choose: (first: string, last: string) => void;
}

export function BackfillDays({ job, first, last, choose }: Props) {
  const [month, setMonth] = useState(first);
  const [begun, setBegun] = useState<string | null>(null);
  const scale = scaleOf(job) === "month" ? "month" : "hour"; // of other jobs, a month has too many times
  const days = daysOfMonth(month);
  const [start = month, end = month] = [days[0], days.at(-1)];
  const span = [startOf(start), startOf(plusDays(end, 1))] as const;
  const { counts, below } = useCounts(job, scale, days, ...span, dayKey);
  const pick = (day: string) => {
    if (day > today()) return;
    if (begun === null) {
      setBegun(day);
      choose(day, day);
      return;
    }
    setBegun(null);
    choose(...((day < begun ? [day, begun] : [begun, day]) as [string, string]));
  };
  return (
    <div class="backfill-days">
      <div class="calendar-steps">
        <button type="button" aria-label={steps("before")} onClick={() => setMonth(plusMonths(month, -1))}>
          ‹
        </button>
        <h3 aria-live="polite">{dayName(month, "month")}</h3>
        <button type="button" aria-label={steps("after")} onClick={() => setMonth(plusMonths(month, 1))}>
          ›
        </button>
      </div>
      <Cells
        label={dayName(month, "month")}
        cells={days.map((day) => ({
          key: day,
          label: String(Number(day.slice(8))),
          name: dayName(day),
          counts: counts?.get(day),
          isNow: day === today(),
        }))}
        columns={7}
        heads={weekdays()}
        offset={columnOf(start)}
        chosen={begun ?? first}
        isChosen={(day) => first <= day && day <= last}
        choose={pick}
        beyond={(from, step) => {
          const to = plusDays(from, step);
          setMonth(to);
          return to;
        }}
      />
      <p class="muted" role="status">
        {say(begun === null ? "pick_first" : "pick_last")}
      </p>
      {below}
    </div>
  );
}
