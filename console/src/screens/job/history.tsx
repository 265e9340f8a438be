// The runs of a job, newest first: by status and days, which are in the address.

import { present } from "../../clock";
import { api, call, type Schemas } from "../../api";
import { writeJson } from "../../json";
import { go, href, place } from "../../route";
import { span, Time, zone } from "../../time";
import { type PageRead, usePages } from "../../shown-pages";
import { Field, Typed } from "../../ui/act";
import { Part } from "../../ui/page";
import { Pager } from "../../ui/pager";
import { Empty, Shown } from "../../ui/states";
import { StatusBadge } from "../../ui/status";
import { UnusableNote, unusableIn } from "../../ui/unusable";
import {
  say as all,
  STATUS_FILTERS,
  status as statusName,
  type StatusFilter,
  statusOf,
} from "../../words/shared";
import { isDay, justBefore, plusDays, startOf } from "./days";
import { say } from "./history.words";
import { reasonOf, trigger } from "./shared.words";

type Run = Schemas["RunSummary"];

const LIMIT = 25;
/**
 * Filters are of the page that was read: so many pages are read until one has something, larger ones from
 * then on.
 */
const EVERY = 5_000;
const CALLS = 4;
const LARGEST = 100;
/** A clock may be so much behind the API's, and yet what was triggered just now is there. */
const SLACK = 10_000;

/** The filters of the runs; the address has those of other parts, too. */
const FILTERS: Record<string, (value: string) => boolean> = {
  status: (value) => STATUS_FILTERS.some((each) => each === value),
  from: isDay,
  until: isDay,
};

export function History({ name }: { name: string }) {
  const query = place.value.query;
  const status = STATUS_FILTERS.find((each) => each === query.get("status"));
  const [from, until] = [query.get("from"), query.get("until")];
  const isFiltered = Boolean(status || from || until);
  const unusable = unusableIn(new URLSearchParams([...query].filter(([each]) => each in FILTERS)), FILTERS);
  const { status: _, from: __, until: ___, ...rest } = Object.fromEntries(query);
  const live = usePages<Run, PageRead<Run>>(
    (at, signal) => runs(name, { status, from, until }, at, signal),
    ["runs", name, status, from, until, zone.value].join(" "),
    EVERY,
  );
  return (
    <Part title={say("title")} aside={<small>{say("due_only")}</small>}>
      <Filters name={name} status={status} from={from} until={until} />
      <UnusableNote unusable={unusable} rest={href("jobs", name, rest)} />
      <Shown live={live}>
        {({ items, next }) => (
          <>
            {items.length === 0 ? (
              <Empty title={say(isFiltered ? "none_so" : "none")}>
                <p>{say(next ? "none_more" : isFiltered ? "none_all" : "none_why")}</p>
              </Empty>
            ) : (
              <Runs items={items} />
            )}
            <Pager pages={live} />
          </>
        )}
      </Shown>
    </Part>
  );
}

interface Choice {
  status: StatusFilter | undefined;
  from: string | null;
  until: string | null;
}

async function runs(
  name: string,
  choice: Choice,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<{ items: Run[]; next: string | null }> {
  const { status } = choice;
  const from = isDay(choice.from) ? justBefore(startOf(choice.from)) : undefined;
  const until = isDay(choice.until) ? justBefore(startOf(plusDays(choice.until, 1))) : dueBy(status);
  let next: string | null | undefined = cursor;
  for (let made = 0; ; made += 1) {
    const query = { limit: made ? LARGEST : LIMIT, cursor: next ?? undefined, status, from, until };
    const page: Schemas["RunPage"] = await call(
      api.GET("/jobs/{name}/runs", { params: { path: { name }, query }, signal }),
    );
    next = page.next_cursor;
    if (page.items.length > 0 || !next || made + 1 >= CALLS) return { items: page.items, next };
  }
}

/**
 * What is planned for later is left out, since a job of every second has hundreds of it; who asks for it,
 * sees it.
 */
function dueBy(status: StatusFilter | undefined): string | undefined {
  return status === "pending" ? undefined : new Date(present() + SLACK).toISOString();
}

function Filters({ name, status, from, until }: Choice & { name: string }) {
  const set = (changed: Record<string, string>) => {
    const query = Object.fromEntries(place.value.query);
    go(href("jobs", name, { ...query, ...changed }), { replace: true });
  };
  const day = (label: string, key: "from" | "until", value: string | null) => (
    <Field label={label}>
      <Typed type="date" text={value ?? ""} choose={(text) => set({ [key]: text })} />
    </Field>
  );
  return (
    <div class="filters">
      <Field label={all("status")}>
        <select value={status ?? ""} onChange={(event) => set({ status: event.currentTarget.value })}>
          <option value="">{all("all")}</option>
          {STATUS_FILTERS.map((each) => (
            <option key={each} value={each}>
              {statusName(each)}
            </option>
          ))}
        </select>
      </Field>
      {day(say("from"), "from", from)}
      {day(say("until"), "until", until)}
      {(status || from || until) && (
        <button type="button" class="quiet" onClick={() => set({ status: "", from: "", until: "" })}>
          {say("clear")}
        </button>
      )}
    </div>
  );
}

function Runs({ items }: { items: Run[] }) {
  return (
    <div class="scrolls">
      <table class="folds job-table runs">
        <thead>
          <tr>
            <th scope="col">{say("nominal")}</th>
            <th scope="col">{all("status")}</th>
            <th scope="col">{say("trigger")}</th>
            <th scope="col">{all("lateness")}</th>
            <th scope="col">{all("took")}</th>
            <th scope="col">{say("attempts")}</th>
            <th scope="col">{say("message")}</th>
          </tr>
        </thead>
        <tbody>
          {items.map((each) => (
            <Row key={each.id} run={each} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ run }: { run: Run }) {
  const last = run.attempts.at(-1);
  const first = run.attempts[0]?.number === 1 ? run.attempts[0] : undefined;
  const payload = run.payload === null || run.payload === undefined ? "" : writeJson(run.payload);
  const message = run.failure_reason ?? last?.message ?? run.note ?? "";
  return (
    <tr>
      <td data-label={say("nominal")}>
        <a href={href("actions", run.id)} title={run.id}>
          <Time at={run.nominal_at} />
        </a>
      </td>
      <td data-label={all("status")}>
        <StatusBadge status={statusOf(run)} />
      </td>
      <td data-label={say("trigger")}>
        <span>
          {trigger(run.trigger)}
          {run.trigger === "manual" && <small class="note">{say("by_of", { who: run.created_by })}</small>}
          {payload && (
            <small class="note run-message" dir="auto" title={payload}>
              <code>{payload}</code>
            </small>
          )}
        </span>
      </td>
      <td data-label={all("lateness")}>{first ? <Late run={run} startedAt={first.started_at} /> : "–"}</td>
      <td data-label={all("took")}>
        {last?.finished_at ? span(since(last.started_at, last.finished_at)) : "–"}
      </td>
      <td data-label={say("attempts")}>{last?.number ?? "–"}</td>
      <td data-label={say("message")}>
        <span>
          {run.skip_reason && reasonOf(run.skip_reason)}
          {message && (
            <small class="note run-message" lang="en" title={message}>
              {message}
            </small>
          )}
        </span>
      </td>
    </tr>
  );
}

const since = (from: string, to: string) => Date.parse(to) - Date.parse(from);

/** How long after its time it began, and when that was. */
function Late({ run, startedAt }: { run: Run; startedAt: string }) {
  const late = since(run.nominal_at, startedAt);
  return (
    <span>
      {late < 1_000 ? say("on_time") : span(late)}
      <small class="note">
        {all("started")} <Time at={startedAt} />
      </small>
    </span>
  );
}
