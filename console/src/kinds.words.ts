// The kinds of notifications and of undelivered inputs, in words, for all screens.

import type { Schemas } from "./api";
import { words } from "./words";

export type NotificationKind = Schemas["NotificationKind"];
export type Severity = Schemas["Severity"];
export type UndeliveredKind = Schemas["UndeliveredKind"];

export const NOTIFICATION_KINDS: NotificationKind[] = [
  "scheduling.action_failed",
  "scheduling.dead_lettered",
  "scheduling.undelivered",
  "scheduling.breaker_opened",
  "scheduling.approval_requested",
  "jobs.recurring_failing",
  "jobs.recurring_succeeding",
  "jobs.chain_refused",
  "jobs.deadline_missed",
  "jobs.deadline_at_risk",
  "jobs.silent",
];

/** Those that go to admins by default. */
export const FOR_ADMINS: NotificationKind[] = [
  "scheduling.dead_lettered",
  "scheduling.undelivered",
  "scheduling.breaker_opened",
  "jobs.chain_refused",
  "jobs.deadline_missed",
  "jobs.deadline_at_risk",
  "jobs.silent",
];

export const kindOfNotification = words("kinds.kindOfNotification", {
  "scheduling.action_failed": "An action failed",
  "scheduling.dead_lettered": "A new dead letter",
  "scheduling.undelivered": "Something undelivered",
  "scheduling.breaker_opened": "A circuit breaker opened",
  "scheduling.approval_requested": "An action waits for an approval",
  "jobs.recurring_failing": "A job keeps failing",
  "jobs.recurring_succeeding": "A job succeeds again",
  "jobs.chain_refused": "A chain of events is too long",
  "jobs.deadline_missed": "A job missed its deadline",
  "jobs.deadline_at_risk": "A job may miss its deadline",
  "jobs.silent": "A job has not succeeded for too long",
});

export const severity = words("kinds.severity", {
  info: "for information",
  warning: "warning",
  error: "error",
});

export const UNDELIVERED_KINDS: UndeliveredKind[] = [
  "event",
  "message",
  "record",
  "wake",
  "pass",
  "lifecycle",
  "notification",
];

export const kindOfUndelivered = words("kinds.kindOfUndelivered", {
  message: "message of a queue",
  record: "record of the stream",
  wake: "wake",
  event: "event that starts a job",
  pass: "sweep or catch-up",
  lifecycle: "lifecycle event",
  notification: "notification",
});
