// The history of an action, in order: from its row and, if the user may read it, from the audit trail.

import type { Schemas } from "../api";
import { present } from "../clock";
import type { AttemptBar } from "../charts/attempt-bars";
import type { ActionView } from "./changes";
import { shown } from "./history-status";

export type Attempt = Schemas["AttemptView"];
export type Entry = Schemas["AuditEntryView"];

export type Stop = { at: number } & (
  | { kind: "scheduled"; due: string | null }
  | { kind: "change"; entry: Entry }
  | { kind: "cancel_requested" }
  | { kind: "due" }
  | { kind: "forgotten"; n: number }
  | { kind: "waited"; length: number; isLost: boolean }
  | { kind: "attempt"; attempt: Attempt; due: number | null }
  | { kind: "settled" }
);

const ORDER: Stop["kind"][] = [
  "scheduled",
  "change",
  "cancel_requested",
  "due",
  "forgotten",
  "waited",
  "attempt",
  "settled",
];
const SHORTEST_WAIT = 1_000;

/** Whether a change that was requested was made. */
export function isDone({ status }: Entry): boolean {
  return status !== null && status < 300;
}

/** All stops by time; those of one instant in the order of a life. */
export function historyOf(action: ActionView, entries: Entry[]): Stop[] {
  const changes = entries.filter((each) => each.operation !== "schedule");
  const stops: Stop[] = [
    { kind: "scheduled", at: Date.parse(action.created_at), due: firstDue(action, entries) },
    ...changes.map((entry): Stop => ({ kind: "change", at: Date.parse(entry.requested_at), entry })),
    ...attemptStops(action, changes),
  ];
  const nominal = Date.parse(action.nominal_at);
  const isWaitedFor = action.attempts.length > 0 || action.status === "pending";
  if (isWaitedFor && nominal <= present()) stops.push({ kind: "due", at: nominal });
  const isInChanges = changes.some((each) => each.operation === "cancel" && isDone(each));
  if (action.cancel_requested_at && !isInChanges) {
    stops.push({ kind: "cancel_requested", at: Date.parse(action.cancel_requested_at) });
  }
  if (action.status !== "pending" && action.status !== "processing") {
    const ended = action.attempts.at(-1)?.finished_at;
    const isByRun = action.status === "executed" || action.status === "failed" || action.cancel_requested_at;
    stops.push({ kind: "settled", at: Date.parse((isByRun && ended) || action.modified_at) });
  }
  return stops.sort((a, b) => a.at - b.at || ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
}

/** When it was first due: the row forgets that when it is rescheduled, the audit trail does not. */
function firstDue(action: ActionView, entries: Entry[]): string | null {
  const scheduledFor = entries.find((each) => each.operation === "schedule" && isDone(each))?.result?.due_at;
  if (typeof scheduledFor === "string") return scheduledFor;
  const isMoved = entries.some((each) => each.operation === "reschedule" && isDone(each));
  return isMoved ? null : action.nominal_at;
}

/** The attempts as bars: an attempt waits from its due time, or from the end of the one before. */
export function attemptBars(action: ActionView, entries: Entry[]): AttemptBar[] {
  const changes = entries.filter((each) => each.operation !== "schedule");
  return action.attempts.map((attempt, place) => {
    const before = action.attempts[place - 1];
    const queued = Date.parse(attempt.queued_at);
    const started = Date.parse(attempt.started_at);
    const ended = before && Date.parse(before.finished_at ?? before.started_at);
    const from = ended ?? dueOf(action, changes, place) ?? queued;
    return {
      key: attempt.started_at,
      number: attempt.number,
      from: Math.min(from, queued, started),
      queued,
      started,
      ended: endOf(attempt, action.attempts[place + 1]),
      tone: shown(attempt.outcome).tone,
    };
  });
}

/** When an attempt ended; of one whose worker died, when the next one took over. */
function endOf({ finished_at, outcome }: Attempt, next: Attempt | undefined): number | null {
  if (finished_at !== null) return Date.parse(finished_at);
  return outcome === "lost" && next ? Date.parse(next.started_at) : null;
}

function attemptStops(action: ActionView, changes: Entry[]): Stop[] {
  const stops: Stop[] = [];
  action.attempts.forEach((attempt, place) => {
    const at = Date.parse(attempt.started_at);
    const before = action.attempts[place - 1];
    if (!before && attempt.number > 1) stops.push({ kind: "forgotten", at, n: attempt.number - 1 });
    const ended = before && Date.parse(before.finished_at ?? before.started_at);
    const isAgain = changes.some(
      (each) =>
        each.operation === "redrive" &&
        ended &&
        Date.parse(each.requested_at) >= ended &&
        Date.parse(each.requested_at) <= at,
    );
    if (before && ended && !isAgain && at - ended >= SHORTEST_WAIT) {
      stops.push({ kind: "waited", at, length: at - ended, isLost: before.finished_at === null });
    }
    stops.push({ kind: "attempt", at, attempt, due: dueOf(action, changes, place) });
  });
  return stops;
}

/** When an attempt was due, if known: of the last, of the first, and of a rescheduled one. */
function dueOf(action: ActionView, changes: Entry[], place: number): number | null {
  const attempt = action.attempts[place] as Attempt;
  const before = action.attempts[place - 1];
  const started = Date.parse(attempt.started_at);
  const known: (string | undefined)[] = [];
  if (attempt.number === 1 && before === undefined) known.push(action.nominal_at);
  if (place === action.attempts.length - 1 && action.status !== "pending") known.push(action.due_at);
  const set = changes.filter(
    (each) =>
      isDone(each) &&
      Date.parse(each.requested_at) <= started &&
      (!before || Date.parse(each.requested_at) > Date.parse(before.started_at)),
  );
  const last = set.sort((a, b) => a.requested_at.localeCompare(b.requested_at)).at(-1)?.result?.due_at;
  if (typeof last === "string") known.push(last);
  const due = known.map((each) => Date.parse(each ?? "")).find((each) => each <= started);
  return due ?? null;
}
