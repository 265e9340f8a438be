// Why an attempt failed, and what its worker logged; each is loaded when it is opened.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { api, call, type Schemas } from "../api";
import { useQuery } from "../query";
import { Time } from "../time";
import { LongText } from "../ui/long-text";
import { Shown } from "../ui/states";
import type { ActionView } from "./changes";
import type { Attempt } from "./history";
import { say } from "./attempt-details.words";

const FAILED = ["failed", "retry"];
const ONCE = Number.POSITIVE_INFINITY;

interface Props {
  action: ActionView;
  attempt: Attempt;
}

export function AttemptDetails({ action, attempt }: Props) {
  const isOpen = attempt.finished_at === null && action.status === "processing";
  return (
    <>
      {FAILED.includes(attempt.outcome) && (
        <Opened title={say("traceback")}>
          <Traceback id={action.id} started={attempt.started_at} />
        </Opened>
      )}
      <Opened title={say("log")}>
        <Log id={action.id} n={attempt.number} every={isOpen ? 5_000 : ONCE} />
      </Opened>
    </>
  );
}

/** A part whose content exists only while it is open. */
function Opened({ title, children }: { title: string; children: ComponentChildren }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="attempt-part" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{title}</summary>
      {isOpen && children}
    </details>
  );
}

function Traceback({ id, started }: { id: string; started: string }) {
  const params = { path: { action_id: id } };
  const live = useQuery(
    async (signal) => (await call(api.GET("/actions/{action_id}/tracebacks", { params, signal }))).items,
    `tracebacks ${id}`,
    ONCE,
  );
  return (
    <Shown live={live} lines={4}>
      {(items) => {
        const found = items.find((item) => item.started_at === started);
        return found ? <Code text={found.text} /> : <p class="muted">{say("no_traceback")}</p>;
      }}
    </Shown>
  );
}

function Log({ id, n, every }: { id: string; n: number; every: number }) {
  const params = { path: { action_id: id }, query: { attempt: n } };
  const live = useQuery(
    (signal) => call(api.GET("/actions/{action_id}/log", { params, signal })),
    `log ${id} ${n}`,
    every,
  );
  return (
    <Shown live={live} lines={4}>
      {(log) => (
        <>
          {log.trace_url && (
            <p>
              <a href={log.trace_url} rel="noreferrer">
                {say("trace")}
              </a>
            </p>
          )}
          {log.items.length === 0 && <p class="muted">{say("no_lines")}</p>}
          <ol class="log-lines">
            {log.items.map((line, place) => (
              <Line key={place} line={line} />
            ))}
          </ol>
          {!log.is_complete && <p class="muted">{say("more_lines")}</p>}
          <p>
            <button type="button" class="link" onClick={live.refresh}>
              {say("again")}
            </button>
          </p>
        </>
      )}
    </Shown>
  );
}

function Line({ line }: { line: Schemas["LogLineView"] }) {
  return (
    <li class={line.level === "ERROR" || line.level === "WARNING" ? "is-late" : undefined}>
      <Time at={line.at} /> <small>{line.level}</small> <LongText text={line.message} />
      {line.exception && <Code text={line.exception} />}
    </li>
  );
}

/** A text of several lines; it scrolls by itself, and the keyboard reaches it. */
function Code({ text }: { text: string }) {
  return (
    <pre class="code mono" tabIndex={0}>
      {text}
    </pre>
  );
}
