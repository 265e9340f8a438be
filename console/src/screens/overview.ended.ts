// The runs of jobs and the one-shots of the last hour, brought to one shape: how they ended, and how late
// they began.

import type { Status } from "../words/shared";
import { called, type Job } from "./jobs.data";
import { type Action, HOUR } from "./overview.data";

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

export interface Begun {
  id: string;
  what: string;
  /** When it began, in milliseconds. */
  at: number;
  late: number;
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

/** What is made up for, waited for a slot, or is tried again is late by right: it is left out. */
export function begunOf(jobs: Job[], actions: Action[], since: number): Begun[] {
  const begun: Begun[] = [];
  const add = (id: string, what: string, due: string, started: string | null | undefined) => {
    if (!started) return;
    const at = Date.parse(started);
    if (at >= since) begun.push({ id, what, at, late: Math.max(at - Date.parse(due), 0) });
  };
  for (const job of jobs) {
    for (const run of job.recent_runs ?? []) {
      if (run.attempts === 1 && run.trigger !== "catch-up")
        add(run.id, called(job), run.nominal_at, run.started_at);
    }
  }
  for (const each of actions) {
    const first = each.attempts.find((attempt) => attempt.number === 1);
    if (each.concurrency_key === null) add(each.id, each.type, each.nominal_at, first?.started_at);
  }
  return begun.sort((a, b) => a.late - b.late);
}

/** Jobs whose last runs do not reach back an hour, since they are so many. */
export function cutShort(jobs: Job[], loaded: number, at: number): Job[] {
  return jobs.filter((job) => {
    const runs = job.recent_runs ?? [];
    const oldest = runs.at(-1);
    return runs.length >= loaded && oldest && Date.parse(oldest.nominal_at) > at - HOUR;
  });
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
