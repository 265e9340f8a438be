// Words that several screens say.

import type { Schemas } from "../api";
import { words } from ".";

export const say = words("words/shared.say", {
  overview: "Overview",
  jobs: "Jobs",
  actions: "Actions",
  dead_letters: "Dead letters",
  batches: "Batches",
  pauses: "Pauses",
  limits: "Rate limits",
  undelivered: "Undelivered",
  recount: "Recount",
  notifications: "Notifications",
  cadences: "Try a cadence",
  loading: "Loading",
  more: "Show more",
  retry: "Try again",
  close: "Close",
  cancel: "Go back",
  runbook: "Runbook",
  undo: "Undo",
  undone: "Undone.",
  done: "Done",
  working: "Working…",
  none: "none",
  all: "All",
  never: "never",
  status: "Status",
  type: "Type",
  due: "Due",
  job: "Job",
  when: "When",
  why: "Why",
  copy: "Copy",
  copied: "Copied",
  unreachable: "The API does not answer",
  unreachable_why: "What is shown may be old. It is asked again, less and less often, up to once a minute.",
  forbidden: "Your roles do not allow this",
  forbidden_why:
    "You are signed in as {actor} of {tenant}, with {roles}. An admin of your tenant can grant more.",
  no_roles: "no role",
  signed_out: "Your session has ended",
  signed_out_why: "Sign in again. You come back to this place.",
  sign_in: "Sign in again",
  missing: "It is not there",
  missing_why:
    "It may be another tenant's, have been removed at the end of its retention, or never have been.",
  failed: "That did not work",
  changed: "It has changed since you opened this. Close this, reload, then decide.",
  throttled: "The API is asked too often just now; it is tried again soon.",
  read_only: "You may look, and change nothing",
  unit_attempts: { one: "{n} attempt", other: "{n} attempts" },
  lateness: "Late by",
  took: "Took",
  started: "Started",
  ended: "Ended",
  reason: "Reason",
  details: "Details",
  refresh: "Refresh",
});

export type Status = Schemas["Status"];

export const STATUSES: Status[] = ["pending", "processing", "executed", "failed", "cancelled", "skipped"];

/** `retrying` are the pending ones whose last attempt failed. */
export type StatusFilter = Status | "retrying";
export const STATUS_FILTERS: StatusFilter[] = ["pending", "retrying", ...STATUSES.slice(1)];

/** The status of an action, with `retrying` for those that wait for their next attempt. */
export function statusOf(action: { status: Status; is_retrying?: boolean }): StatusFilter {
  return action.is_retrying ? "retrying" : action.status;
}

export const status = words("words/shared.status", {
  pending: "pending",
  retrying: "retrying",
  processing: "running",
  executed: "executed",
  failed: "failed",
  cancelled: "cancelled",
  skipped: "skipped",
});
