// One action: what it is, what happened to it, what it carries, and what else belongs to it.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { ActionButtons } from "../actions/buttons";
import { type ActionView, lookUp, type Seen } from "../actions/changes";
import { HandOverFact, ProgressFact } from "../actions/hand-over";
import { attemptBars, type Entry, isDone } from "../actions/history";
import { OfCorrelation, OfJob } from "../actions/related";
import { ActionHistory } from "../actions/history-list";
import { DueCell, shortId } from "../actions/shown";
import { api, call } from "../api";
import { AttemptBars } from "../charts/attempt-bars";
import { present } from "../clock";
import { writeJson } from "../json";
import { useQuery } from "../query";
import { can, me } from "../me";
import { href } from "../route";
import { Time, written } from "../time";
import { CopyCommands } from "../ui/copy-commands";
import { LongText } from "../ui/long-text";
import { Page, Part } from "../ui/page";
import { Shown } from "../ui/states";
import { StatusBadge } from "../ui/status";
import { showToast } from "../ui/toasts";
import { Tree } from "../ui/tree";
import { say as sayShared, statusOf } from "../words/shared";
import { say } from "./action.words";

const SOON = 60_000;
const MOST_ENTRIES = 50;

interface ActionWithTrail extends Seen {
  entries: Entry[];
  why: string;
}

export function ActionScreen({ name: id }: { name: string }) {
  const [every, setEvery] = useState(5_000);
  const live = useQuery(
    async (signal): Promise<ActionWithTrail> => {
      const [seen, entries] = await Promise.all([lookUp(id, signal), entriesOf(id, signal)]);
      setEvery(pace(seen));
      return { ...seen, entries, why: await whyOf(seen.action, signal) };
    },
    `action ${id}`,
    every,
  );
  const seen = live.value;
  const title = seen ? seen.action.type : shortId(id);
  return (
    <Page
      title={title}
      above={
        <>
          <a href={href("actions")}>{sayShared("actions")}</a> / <span class="mono">{id}</span>
        </>
      }
      aside={seen && <ActionButtons seen={seen} />}
    >
      <Shown live={live} lines={8}>
        {({ action, entries, why }) => (
          <>
            {why && <Why sentence={why} status={action.status} />}
            <Head action={action} entries={entries} />
            <div class="columns action-columns">
              <Part
                title={say("history")}
                aside={<CopyCommands words={["actions", "show", id]} path={`/actions/${id}`} />}
              >
                {action.attempts.length > 0 && <AttemptBars attempts={attemptBars(action, entries)} />}
                <ActionHistory action={action} entries={entries} />
              </Part>
              <div class="stack">
                <PayloadPart action={action} />
                {action.correlation_id && <OfCorrelation action={action} id={action.correlation_id} />}
                {action.job && can("jobs:read") && <OfJob action={action} job={action.job} />}
              </div>
            </div>
          </>
        )}
      </Shown>
    </Page>
  );
}

/** Who changed it and when; for those who may read that. */
async function entriesOf(id: string, signal: AbortSignal): Promise<Entry[]> {
  if (!can("audit:read")) return [];
  const params = { query: { action: id, limit: MOST_ENTRIES } };
  return (await call(api.GET("/audit", { params, signal }))).items;
}

/** Why it has not run, or not ended, in one sentence of the API; empty for what has ended. */
async function whyOf({ id, status }: ActionView, signal: AbortSignal): Promise<string> {
  if (status !== "pending" && status !== "processing") return "";
  return (await call(api.GET("/actions/{action_id}/why", { params: { path: { action_id: id } }, signal })))
    .sentence;
}

/**
 * What may change at any moment is looked at often; what has failed may be redriven; the rest does not
 * change.
 */
function pace({ action }: Seen): number {
  if (action.status === "failed") return 30_000;
  if (action.status === "pending" && Date.parse(action.due_at) - present() > SOON) return 15_000;
  return action.status === "pending" || action.status === "processing" ? 5_000 : Number.POSITIVE_INFINITY;
}

/** What operators did to its time, from the audit trail. */
function Moves({ entries }: { entries: Entry[] }) {
  const moves = entries.filter((entry) => isDone(entry) && MOVES.includes(entry.operation));
  return (
    <>
      {moves.map((entry) => (
        <small key={entry.requested_at} class="is-moved">
          {say(entry.operation === "redrive" ? "moved_redrive" : "moved_reschedule", {
            by: entry.by,
            at: written(entry.requested_at, "dated"),
          })}
        </small>
      ))}
    </>
  );
}

const MOVES = ["reschedule", "redrive"];

/** The API's sentence about an action that has not ended. */
function Why({ sentence, status }: { sentence: string; status: ActionView["status"] }) {
  return (
    <section class="card why" aria-labelledby="why">
      <h2 id="why">{say(status === "pending" ? "why_pending" : "why_running")}</h2>
      <p>{sentence}</p>
    </section>
  );
}

function Head({ action, entries }: { action: ActionView; entries: Entry[] }) {
  const { correlation_id: id, concurrency_key: key } = action;
  return (
    <dl class="card head-facts">
      <Fact name={sayShared("status")}>
        <StatusBadge status={statusOf(action)} />
      </Fact>
      <Fact name={say("nominal")}>
        <DueCell action={action} />
        <Moves entries={entries} />
      </Fact>
      {action.expires_at && (
        <Fact name={say("expires")}>
          <Time at={action.expires_at} />
        </Fact>
      )}
      {action.held_by && <Fact name={say("held_by")}>{action.held_by}</Fact>}
      {action.checkpoint !== null && (
        <Fact name={say("checkpoint")}>
          <LongText text={writeJson(action.checkpoint)} />
        </Fact>
      )}
      {action.question !== null && (
        <Fact name={say("question")}>
          <LongText text={action.question} />
        </Fact>
      )}
      {action.is_handed_over && action.times_out_at && (
        <Fact name={say("times_out")}>
          <HandOverFact action={action} />
        </Fact>
      )}
      {action.progress !== null && (
        <Fact name={say("progress")}>
          <ProgressFact action={action} />
        </Fact>
      )}
      {action.result !== null && (
        <Fact name={say("result")}>
          <LongText text={writeJson(action.result)} />
        </Fact>
      )}
      {action.tenant_id !== me.value.tenant_id && <Fact name={say("tenant")}>{action.tenant_id}</Fact>}
      {action.dismissed_reason !== null && (
        <Fact name={say("dismissed")}>
          <LongText text={action.dismissed_reason} />
        </Fact>
      )}
      {id && (
        <Fact name={say("correlation_id")}>
          <a href={href("actions", { correlation_id: id })}>
            <bdi>{id}</bdi>
          </a>
        </Fact>
      )}
      {action.batch && (
        <Fact name={say("batch")}>
          <a href={href("batches", action.batch)}>
            <bdi>{action.batch}</bdi>
          </a>
        </Fact>
      )}
      {action.job && (
        <Fact name={sayShared("job")}>
          <a href={href("jobs", action.job)}>{action.job}</a>
        </Fact>
      )}
      {action.idempotency_key && (
        <Fact name={say("idempotency_key")}>
          <LongText text={action.idempotency_key} />
        </Fact>
      )}
      {action.is_high && <Fact name={say("priority")}>{say("high")}</Fact>}
      {action.rate_key && (
        <Fact name={say("rate_key")}>
          <LongText text={action.rate_key} />
        </Fact>
      )}
      {action.debounce_key && (
        <Fact name={say("debounce_key")}>
          {say("calls", { key: action.debounce_key, n: action.coalesced + 1 })}
        </Fact>
      )}
      {key && <Fact name={say("concurrency_key")}>{say("slots", { key, n: action.concurrency_limit })}</Fact>}
      {action.trace_id && (
        <Fact name={say("trace")}>
          {action.trace_url ? (
            <a class="mono" href={action.trace_url} rel="noreferrer">
              {action.trace_id}
            </a>
          ) : (
            <span class="mono">{action.trace_id}</span>
          )}
        </Fact>
      )}
      {action.recoveries > 0 && <Fact name={say("recoveries")}>{say("lost", { n: action.recoveries })}</Fact>}
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function PayloadPart({ action }: { action: ActionView }) {
  const isWhole = action.redacted.includes("*");
  const copy = async () => {
    await navigator.clipboard.writeText(writeJson(action.payload, 2));
    showToast(sayShared("copied"));
  };
  return (
    <Part
      title={say("payload")}
      aside={
        action.payload !== null && (
          <button type="button" onClick={() => void copy()}>
            {say("copy_json")}
          </button>
        )
      }
    >
      {action.payload === null ? (
        <p class="muted">{say(isWhole ? "withheld" : action.job ? "none_or_gone" : "gone")}</p>
      ) : (
        <Tree value={action.payload} />
      )}
      {action.redacted.length > 0 && !isWhole && (
        <p class="muted">
          {say("redacted")} <span class="mono">{action.redacted.join(", ")}</span>
        </p>
      )}
    </Part>
  );
}
