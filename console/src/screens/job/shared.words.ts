// Words that several parts of a job's screen say.

import { words } from "../../words";

export const account = words("screens/job/shared.account", {
  executed: "executed",
  failed: "failed",
  cancelled: "cancelled",
  skipped: "skipped",
  missed: "missed",
  processing: "running",
  pending: "pending",
  upcoming: "to come",
  calendar: "silenced by a calendar",
  gap: "does not exist that day",
  forgotten: "no longer kept",
});

export const reason = words("screens/job/shared.reason", {
  overlap: "another run had not ended",
  paused: "paused",
  disabled: "the job was removed",
  missed: "not run in time",
  retired: "the schedule changed before",
  covered: "the version before had run it",
  requested: "requested by an operator",
  refused: "its event names no tenant, or followed too many others",
});

const REASONS = [
  "overlap",
  "paused",
  "disabled",
  "missed",
  "retired",
  "covered",
  "requested",
  "refused",
] as const;
export type Reason = (typeof REASONS)[number];

/** A reason in words; a calendar's is its name. */
export function reasonOf(text: string): string {
  return (REASONS as readonly string[]).includes(text) ? reason(text as Reason) : text;
}

export const trigger = words("screens/job/shared.trigger", {
  scheduled: "scheduled",
  cadence: "cadence",
  "catch-up": "catch-up",
  event: "event",
  manual: "by hand",
  backfill: "backfill",
});
