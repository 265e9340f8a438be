// The runs of jobs and the one-shots of the last hour, brought to one shape: how they ended.

import type { Status } from "../words/shared";
import { called, type Job } from "./jobs.data";
import type { Action } from "./overview.data";

export interface Ended {
  id: string;
  status: Status;
  /** When it ended, in milliseconds. */
  at: number;
  /** Of which job or type it is. */
  what: string;
  job: string | null;
  why: string | null;
  /** How many of its job ended like this, one after another or not; the newest stands for them. */
  times: number;
}

const isFinal = (status: Status) => status !== "pending" && status !== "processing";

/** `failed` are known besides: they say why. */
export function endedOf(jobs: Job[], actions: Action[], failed: Action[]): Ended[] {
  const reasons = new Map(failed.map((each) => [each.id, each.failure_reason]));
  const ofJobs = jobs.flatMap((job) =>
    (job.recent_runs ?? []).map((run) => ({
      id: run.id,
      status: run.status,
      at: Date.parse(run.finished_at ?? run.nominal_at),
      what: called(job),
      job: job.name,
      why: (run.status === "failed" && reasons.get(run.id)) || null,
      times: 1,
    })),
  );
  const oneShots = actions.map((each) => ({
    id: each.id,
    status: each.status,
    at: Date.parse(each.attempts.at(-1)?.finished_at ?? each.modified_at),
    what: each.type,
    job: each.job,
    why: each.failure_reason,
    times: 1,
  }));
  const known = new Map([...ofJobs, ...oneShots].map((each) => [each.id, each]));
  return [...known.values()].filter((each) => isFinal(each.status)).sort((a, b) => b.at - a.at);
}

/** The last of each job and type that ended so, but every one-shot that failed: the latest first. */
export function latestOf(ended: Ended[], most: number): Ended[] {
  const found = new Map<string, Ended>();
  for (const each of ended) {
    const isOneOfItsOwn = each.status === "failed" && each.job === null;
    const key = isOneOfItsOwn ? each.id : `${each.status} ${each.job ?? each.what}`;
    const newer = found.get(key);
    found.set(key, newer ? { ...newer, times: newer.times + 1 } : each);
  }
  return [...found.values()].slice(0, most);
}
