// The history of an action as a list; at its end what happens next, if known.

import type { ComponentChildren } from "preact";
import { now } from "../clock";
import { distance, span, Time, written } from "../time";
import { LongText } from "../ui/long-text";
import { Runbook } from "../ui/runbook";
import { AttemptDetails } from "./attempt-details";
import { shown as statusWord } from "./history-status";
import type { ActionView } from "./changes";
import { type Attempt, type Entry, isDone, historyOf, type Stop } from "./history";
import { say } from "./history.words";
import { say as sayShown } from "./shown.words";

export function ActionHistory({ action, entries }: { action: ActionView; entries: Entry[] }) {
  return (
    <ol class="history">
      {historyOf(action, entries).map((stop) => (
        <StopItem key={`${stop.kind}-${stop.at}`} stop={stop} action={action} />
      ))}
      <Next action={action} />
    </ol>
  );
}

interface ItemProps {
  title: ComponentChildren;
  at?: number;
  tone?: string;
  children?: ComponentChildren;
}

function Item({ title, at, tone = "", children }: ItemProps) {
  return (
    <li class={`stop ${tone}`}>
      <p class="stop-head">
        <strong>{title}</strong> {at !== undefined && <Time at={at} />}
      </p>
      {children}
    </li>
  );
}

function StopItem({ stop, action }: { stop: Stop; action: ActionView }) {
  const { at } = stop;
  switch (stop.kind) {
    case "scheduled":
      return (
        <Item title={say(`made_${action.trigger}`, { by: action.created_by })} at={at}>
          {stop.due && <p>{say("for", { at: written(stop.due) })}</p>}
          {action.cadence && <p class="muted">{say("cadence", { cadence: action.cadence })}</p>}
        </Item>
      );
    case "change":
      return <ChangeItem entry={stop.entry} at={at} />;
    case "cancel_requested":
      return <Item title={say("cancel_requested")} at={at} tone="is-cancelled" />;
    case "due":
      return <Item title={say("nominal")} at={at} tone="is-mark" />;
    case "forgotten":
      return <Item title={say("forgotten", { n: stop.n })} tone="is-gap" />;
    case "waited":
      return (
        <Item title={say(stop.isLost ? "took_over" : "waited", { span: span(stop.length) })} tone="is-gap" />
      );
    case "attempt":
      return <AttemptItem action={action} attempt={stop.attempt} due={stop.due} />;
    case "settled":
      return <Settled action={action} at={at} />;
  }
}

/** The changes that have words here. */
const NAMED = [
  "cancel",
  "reschedule",
  "redrive",
  "dismiss",
  "complete",
  "fail",
  "approve",
  "reject",
] as const;

function ChangeItem({ entry, at }: { entry: Entry; at: number }) {
  const named = NAMED.find((name) => name === entry.operation);
  const operation = named ? say(`change_${named}`) : entry.operation;
  const due = entry.result?.due_at;
  const isOutdated = entry.status === 412;
  const detail = isOutdated ? say("outdated") : entry.result?.detail;
  return (
    <Item title={operation} at={at} tone={isDone(entry) ? "is-change" : "is-gap"}>
      <p class="muted">{say("by", { by: entry.by })}</p>
      {isDone(entry) && typeof due === "string" && entry.operation !== "cancel" && (
        <p>{say("for", { at: written(due) })}</p>
      )}
      {entry.status === null && <p>{say("unknown")}</p>}
      {!isDone(entry) && entry.status !== null && (
        <p>{say("refused", { why: typeof detail === "string" ? detail : String(entry.status) })}</p>
      )}
    </Item>
  );
}

interface AttemptProps {
  action: ActionView;
  attempt: Attempt;
  due: number | null;
}

function AttemptItem({ action, attempt, due }: AttemptProps) {
  const started = Date.parse(attempt.started_at);
  const ended = attempt.finished_at ? Date.parse(attempt.finished_at) : null;
  const late = due === null ? null : started - due;
  const outcome = statusWord(attempt.outcome);
  const again = attempt.number > 1 ? "_retry" : "";
  return (
    <Item title={say("attempt", { n: attempt.number })} at={started} tone={outcome.tone}>
      <p>
        <span class={`badge ${outcome.tone}`}>{outcome.text}</span>{" "}
        {ended !== null && <span>{say("took", { span: span(ended - started) })}</span>}
        {ended === null && attempt.outcome === "running" && <Running since={started} />}
      </p>
      {attempt.message && (
        <p class="stop-message mono">
          <LongText text={attempt.message} />
        </p>
      )}
      <p class="muted" title={again ? undefined : sayShown("counts_from")}>
        {late !== null && late >= 1_000 ? (
          <span class="is-late">{sayShown(`late${again}`, { span: span(late) })}</span>
        ) : (
          late !== null && sayShown(`punctual${again}`)
        )}
        {late !== null && " · "}
        {say("queued", { span: span(Math.max(0, started - Date.parse(attempt.queued_at))) })} ·{" "}
        {say("instance", { instance: attempt.instance })}
      </p>
      <AttemptDetails action={action} attempt={attempt} />
    </Item>
  );
}

function Running({ since }: { since: number }) {
  const length = Math.max(0, Math.round((now.value - since) / 1_000) * 1_000);
  return <span>{say("runs_for", { span: span(length) })}</span>;
}

function Settled({ action, at }: { action: ActionView; at: number }) {
  const status = action.status as "executed" | "failed" | "cancelled" | "skipped";
  return (
    <Item title={say(`settled_${status}`)} at={at} tone={`is-${status} is-end`}>
      {status === "failed" && (
        <p>
          {say("failed_next")} <Runbook section="dead-letters" />
        </p>
      )}
      {status === "cancelled" && action.cancelled_by && (
        <p class="muted">{say("by", { by: action.cancelled_by })}</p>
      )}
      {status === "skipped" && action.skip_reason && <p>{sayShown(`skip_${action.skip_reason}`)}</p>}
      {action.note && (
        <p>
          <LongText text={action.note} />
        </p>
      )}
    </Item>
  );
}

/** Where it stands and what comes: nothing that the row does not say. */
function Next({ action }: { action: ActionView }) {
  if (action.status === "processing") {
    const goes = action.awaits_approval ? "awaits" : action.is_handed_over ? "handed_over" : "running";
    return (
      <Item title={say(action.cancel_requested_at ? "stopping" : goes)} tone="is-processing is-now">
        {!action.is_handed_over && <p class="muted">{say("taken_over")}</p>}
        {action.awaits_approval && (
          <p class="muted">
            <bdi>{action.question}</bdi>
          </p>
        )}
      </Item>
    );
  }
  if (action.status !== "pending") return null;
  const tried = action.attempts.at(-1)?.number ?? 0;
  const isDue = Date.parse(action.due_at) <= now.value;
  const values = { n: tried + 1, when: distance(action.due_at) };
  const title = isDue ? "any_moment" : tried > 0 ? "tries_again" : "runs";
  return (
    <Item title={say(title, values)} at={Date.parse(action.due_at)} tone="is-pending is-now">
      {isDue && action.concurrency_key && (
        <p class="muted">{say("slot", { key: action.concurrency_key, n: action.concurrency_limit })}</p>
      )}
      {isDue && action.job && <p class="muted">{say("lock")}</p>}
    </Item>
  );
}
