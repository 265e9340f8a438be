// How many runs of each job ended in each minute of the last hour, from the API's counts.

import { jobKey } from "./jobs.data";
import type { Summary } from "./overview.data";

export interface JobRate {
  /** All runs of the hour. */
  n: number;
  ended: number[];
  failed: number[];
  /** The begin of the first minute, in milliseconds. */
  since: number;
}

export type Rates = Map<string, JobRate>;

/** By `jobKey`; none where runs are not counted. */
export function ratesOf(summary: Summary | null): Rates {
  const jobs = summary?.is_counted ? summary.names.filter((name) => name.kind === "job") : [];
  const since = Date.parse(summary?.since ?? "");
  return new Map(
    jobs.map((job) => {
      const n = job.by_minute.reduce((all, ended) => all + ended, 0);
      return [jobKey(job), { n, ended: job.by_minute, failed: job.failed_by_minute, since }];
    }),
  );
}
