// The runs of jobs and the one-shots of the last hour, brought to one shape: how they ended, and how late they began.

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
}

export interface Begun {
  id: string;
  what: string;
  /** When it began, in milliseconds. */
  at: number;
  late: number;
}

const isFinal = (status: Status) => status !== "pending" && status !== "processing";

export function endedOf(jobs: Job[], actions: Action[]): Ended[] {
  const ofJobs = jobs.flatMap((job) =>
    (job.recent_runs ?? []).map((run) => ({
      id: run.id,
      status: run.status,
      at: Date.parse(run.finished_at ?? run.nominal_at),
      what: called(job),
      job: job.name,
      why: null,
    })),
  );
  const oneShots = actions.map((each) => ({
    id: each.id,
    status: each.status,
    at: Date.parse(each.attempts.at(-1)?.finished_at ?? each.modified_at),
    what: each.type,
    job: each.job,
    why: each.failure_reason,
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
export function cutShort(jobs: Job[], told: number, at: number): Job[] {
  return jobs.filter((job) => {
    const runs = job.recent_runs ?? [];
    const oldest = runs.at(-1);
    return runs.length >= told && oldest && Date.parse(oldest.nominal_at) > at - HOUR;
  });
}

/** The last success of each job and type, and what did not succeed: the latest first. */
export function latestOf(ended: Ended[], most: number): Ended[] {
  const seen = new Set<string>();
  return ended
    .filter((each) => {
      if (each.status === "failed") return true;
      const key = `${each.status} ${each.job ?? each.what}`;
      return !seen.has(key) && seen.add(key);
    })
    .slice(0, most);
}
