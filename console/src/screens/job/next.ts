// The next times of a job: when its cadences name them, what the clocks do to them, and which will not run.

import { api, call } from "../../api";
import { accounts, isTimeless, type Job, type Occurrence } from "./accounts";

export interface Coming {
  /** Null for a time that the clocks jump over. */
  at: string | null;
  local: string;
  tz: string;
  cadences: string[];
  /** What a change of the clocks does to it. Cadences may differ in that. */
  marks: { mark: Mark; note: string }[];
  /** What is known of it already; undefined where nothing is. */
  known?: Occurrence;
}

export type Mark = "moved" | "skipped" | "doubled" | "once";

/** More than are shown, so that there are enough until it is asked again. */
const COUNT = 20;
const CALLS = 2;

export async function upcoming(job: Job, signal: AbortSignal): Promise<Coming[]> {
  const timed = job.cadences.filter((each) => !isTimeless(each.text));
  if (timed.length === 0 || !job.enabled) return [];
  const from = new Date().toISOString();
  const previews = await Promise.all(
    timed.map((each) =>
      call(
        api.GET("/jobs/preview", {
          params: { query: { cadence: each.text, from, count: COUNT } },
          signal,
        }),
      ),
    ),
  );
  const found = new Map<string, Coming & { place: number }>();
  previews.forEach(({ occurrences, tz }, which) => {
    const cadence = timed[which]?.name ?? "";
    let place = 0;
    for (const each of occurrences) {
      if (each.at !== null) place = Date.parse(each.at);
      const key = each.at ?? `${cadence} ${each.local}`;
      const time = found.get(key) ?? { at: each.at, local: each.local, tz, cadences: [], marks: [], place };
      time.cadences.push(cadence);
      if (each.mark && !time.marks.some(({ mark }) => mark === each.mark))
        time.marks.push({ mark: each.mark as Mark, note: each.note.replace(/^\w+: /, "") });
      found.set(key, time);
    }
  });
  const inOrder = [...found.values()].sort((one, other) => one.place - other.place).slice(0, COUNT);
  const last = inOrder.filter((each) => each.at).at(-1)?.at;
  if (!last) return inOrder;
  const { entries } = await accounts(job.name, from, last, CALLS, signal);
  return inOrder.map((each) => ({ ...each, known: entries.find((entry) => covers(entry, each)) }));
}

function covers(entry: Occurrence, time: Coming): boolean {
  if (time.at === null) return false;
  const at = Date.parse(time.at);
  return Date.parse(entry.at) <= at && at <= Date.parse(entry.until ?? entry.at);
}
