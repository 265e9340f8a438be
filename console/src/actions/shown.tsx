// Parts of an action as lists show them.

import { now } from "../clock";
import { href } from "../route";
import { distance, span, Time } from "../time";
import type { Action } from "./lists";
import { say } from "./shown.words";

const IN_LISTS = 500;

/** A text as lists show it; the screen of the action has all of it. */
export function bounded(text: string): string {
  return text.length > IN_LISTS ? `${text.slice(0, IN_LISTS)}…` : text;
}

/** The end of an id, which distinguishes actions; of a run it is the nominal time. */
export function shortId(id: string): string {
  const last = id.split(".").at(-1) ?? id;
  return last === id ? `…${id.slice(-8)}` : last;
}

export function ActionLink({ id }: { id: string }) {
  return (
    <a class="mono short-id" href={href("actions", id)} title={id}>
      {shortId(id)}
    </a>
  );
}

/** The type; of a run its job, which leads there. */
export function TypeCell({ action }: { action: Pick<Action, "type" | "job"> }) {
  if (!action.job) return <TypeName type={action.type} />;
  return (
    <>
      {action.job !== action.type && <TypeName type={action.type} />}
      <a class="cut" href={href("jobs", action.job)} title={say("of_job", { job: action.job })}>
        <bdi>{action.job}</bdi>
      </a>
    </>
  );
}

function TypeName({ type }: { type: string }) {
  return (
    <div class="cut" title={type}>
      <bdi>{type}</bdi>
    </div>
  );
}

const PUNCTUAL = 1_000;

/** By how much its first attempt began after the nominal time, in milliseconds; null if that is not known. */
export function lateness(action: Pick<Action, "attempts" | "nominal_at">): number | null {
  const first = action.attempts.find((attempt) => attempt.number === 1);
  if (!first) return null;
  const late = Date.parse(first.started_at) - Date.parse(action.nominal_at);
  return late < 0 ? null : late;
}

/** Whether something has moved its due time away from the nominal time. */
export function isMoved({ nominal_at, due_at }: Pick<Action, "nominal_at" | "due_at">): boolean {
  return Math.abs(Date.parse(due_at) - Date.parse(nominal_at)) >= PUNCTUAL;
}

/** What moved the due time: a retry, as far as the row shows it. */
function movedBy({ is_retrying, attempts }: Action): string {
  const last = attempts.at(-1)?.number ?? 0;
  if (is_retrying) return say("moved_retry", { n: last });
  return last > 1 ? say("moved_attempts", { n: last }) : say("moved");
}

/** Its nominal time; what moved its due time; and how late it began, or how long it waits. */
export function DueCell({ action }: { action: Action }) {
  return (
    <>
      <div class="nowrap">
        <Time at={action.nominal_at} />
      </div>
      {isMoved(action) && (
        <small class="is-moved">
          {movedBy(action)} <Time at={action.due_at} />
        </small>
      )}
      <DueNote action={action} />
    </>
  );
}

function DueNote({ action }: { action: Action }) {
  if (action.status === "pending") {
    const waited = now.value - Date.parse(action.due_at);
    return waited > 2_000 ? (
      <small class="is-late">{say("waits", { span: span(Math.round(waited / 1_000) * 1_000) })}</small>
    ) : (
      <small>{distance(action.due_at)}</small>
    );
  }
  return <Lateness action={action} />;
}

/** How late its first attempt began, from the nominal time. */
function Lateness({ action }: { action: Action }) {
  const late = lateness(action);
  if (late === null) return null;
  return late < PUNCTUAL ? (
    <small title={say("counts_from")}>{say("punctual")}</small>
  ) : (
    <small class="is-late" title={say("counts_from")}>
      {say("late", { span: span(late) })}
    </small>
  );
}

/** What was said of it last: why it failed, why it was skipped, what its last run ended with. */
export function lastMessage(action: Action): string {
  const skipped = action.skip_reason ? say(`skip_${action.skip_reason}`) : "";
  const ended = action.attempts.at(-1)?.message ?? "";
  return action.failure_reason ?? ([skipped, action.note].filter(Boolean).join(": ") || ended);
}

/** Runs so far, and those that were lost with their worker. */
export function attemptsText(action: Action): string {
  const count = action.attempts.at(-1)?.number ?? 0;
  if (action.recoveries === 0) return count === 0 ? "–" : String(count);
  return say("with_lost", { count, n: action.recoveries });
}
