// The attempts of an action, a line for each: how long it waited, was in the queue, and ran.

import { now } from "../clock";
import { span } from "../time";
import { percent } from "./axis";
import { mine } from "./attempt-bars.words";

export interface AttemptBar {
  key: string;
  number: number;
  /** When it was due, or the attempt before ended, in milliseconds. */
  from: number;
  queued: number;
  started: number;
  /** Null while it runs, and of one whose worker died. */
  ended: number | null;
  tone: string;
}

const HIGH = 14;
/** The least share of the width, so that the shortest part is visible. */
const LEAST = 0.004;

export function AttemptBars({ attempts }: { attempts: AttemptBar[] }) {
  const from = Math.min(...attempts.map((attempt) => attempt.from));
  const until = Math.max(...attempts.map(endOf), from + 1);
  const share = (at: number) => (at - from) / (until - from);
  return (
    <div class="attempt-bars">
      <ul class="bare">
        {attempts.map((attempt) => (
          <li key={attempt.key} class={attempt.tone}>
            <span>{mine("attempt", { n: attempt.number })}</span>
            <svg class="chart" height={HIGH} role="img" aria-label={gist(attempt)}>
              <title>{gist(attempt)}</title>
              {parts(attempt).map(({ kind, start, end }) => (
                <rect
                  key={kind}
                  class={`attempt-${kind}`}
                  x={percent(Math.min(share(start), 1 - LEAST))}
                  width={percent(Math.max(share(end) - share(start), LEAST))}
                  height={HIGH}
                />
              ))}
            </svg>
          </li>
        ))}
      </ul>
      <p class="attempt-legend" aria-hidden="true">
        {(["wait", "queue", "run"] as const).map((part) => (
          <span key={part} class={`attempt-${part}`}>
            {mine(part)}
          </span>
        ))}
      </p>
    </div>
  );
}

function endOf({ ended, started }: AttemptBar): number {
  return ended ?? Math.max(started, now.value);
}

function parts(attempt: AttemptBar) {
  const queued = Math.min(Math.max(attempt.queued, attempt.from), attempt.started);
  return [
    { kind: "wait", start: attempt.from, end: queued },
    { kind: "queue", start: queued, end: attempt.started },
    { kind: "run", start: attempt.started, end: endOf(attempt) },
  ].filter(({ kind, start, end }) => kind === "run" || end > start);
}

function gist(attempt: AttemptBar): string {
  const length = (kind: string) => {
    const part = parts(attempt).find((each) => each.kind === kind);
    return span(part ? part.end - part.start : 0);
  };
  return mine("gist", {
    n: attempt.number,
    wait: length("wait"),
    queue: length("queue"),
    run: length("run"),
  });
}
