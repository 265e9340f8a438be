// The facts of a notification, each with the way to what it is about.

import type { ComponentChildren } from "preact";
import type { Schemas } from "../api";
import { kindOfUndelivered, type UndeliveredKind, UNDELIVERED_KINDS } from "../kinds.words";
import { me, SYSTEM } from "../me";
import { href } from "../route";
import { Time } from "../time";
import { number } from "../words";
import { say } from "./notification-facts.words";

type View = Schemas["NotificationView"];
type Row = [label: string, value: ComponentChildren];

export function NotificationFacts({ view }: { view: View }) {
  const rows = (view.is_digest ? ofDigest(view) : ofOne(view)).filter(([, value]) => value);
  return (
    <dl class="facts">
      {rows.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function ofOne({ kind, facts }: View): Row[] {
  if (kind === "scheduling.undelivered") {
    const what = UNDELIVERED_KINDS.find((each) => each === facts.kind);
    return [
      [say("what"), <a href={href("undelivered", text(facts.id))}>{describe(what, facts.kind)}</a>],
      [say("source"), text(facts.source)],
      [say("reason"), text(facts.reason)],
      [say("count"), counted(facts.count)],
      [say("action"), linked(text(facts.action), text(facts.action_tenant_id))],
    ];
  }
  if (kind === "scheduling.breaker_opened") {
    return [
      [say("type"), <a href={href("pauses")}>{text(facts.name)}</a>],
      [say("reason"), text(facts.reason)],
    ];
  }
  if (kind === "jobs.deadline_missed" || kind === "jobs.deadline_at_risk" || kind === "jobs.silent") {
    const at = (name: string) => text(facts[name]) && <Time at={text(facts[name])} />;
    return [
      [say("job"), <a href={href("jobs", text(facts.name))}>{text(facts.name)}</a>],
      [say("reason"), text(facts.reason)],
      [say("due"), at("nominal_at")],
      [say("since"), at("silent_since")],
      [say("deadline"), at("deadline_at")],
      [say("expected"), at("expected_at")],
      [say("last_run"), linked(text(facts.run_id))],
    ];
  }
  if (kind === "scheduling.approval_requested") {
    return [
      [say("question"), text(facts.question)],
      [say("action"), linked(text(facts.id))],
      [say("type"), text(facts.type)],
      [say("until"), text(facts.times_out_at) && <Time at={text(facts.times_out_at)} />],
      [say("correlation"), text(facts.correlation_id)],
    ];
  }
  if (kind.startsWith("jobs.") && kind !== "jobs.chain_refused") {
    const failures = { n: Number(facts.consecutive_failures), threshold: Number(facts.failure_threshold) };
    const isFailing = kind === "jobs.recurring_failing";
    return [
      [say("job"), <a href={href("jobs", text(facts.name))}>{text(facts.name)}</a>],
      [say("reason"), isFailing && text(facts.last_error)],
      [say("failures"), isFailing && say("of_threshold", failures)],
      [say("last_run"), linked(text(facts.last_id))],
    ];
  }
  const job = text(facts.job);
  return [
    [say("action"), linked(text(facts.id))],
    [say("job"), job && <a href={href("jobs", job)}>{job}</a>],
    [say("type"), text(facts.type)],
    [say("reason"), text(facts.reason)],
    [say("attempts"), counted(facts.attempt)],
    [say("due"), text(facts.nominal_at) && <Time at={text(facts.nominal_at)} />],
    [say("correlation"), text(facts.correlation_id)],
  ];
}

function ofDigest({ kind, facts }: View): Row[] {
  const names = Object.entries((facts.by_name ?? {}) as Record<string, number>);
  const isOfJobs = kind.startsWith("jobs.");
  const [page, look] = isOfJobs
    ? (["jobs", "look_jobs"] as const)
    : kind === "scheduling.undelivered"
      ? (["undelivered", "look_undelivered"] as const)
      : kind === "scheduling.breaker_opened"
        ? (["pauses", "look_pauses"] as const)
        : kind === "scheduling.approval_requested"
          ? (["actions", "look_actions"] as const)
          : (["dead-letters", "look_dead"] as const);
  return [
    [
      say("many"),
      <>
        {counted(facts.total)} · <a href={href(page)}>{say(look)}</a>
      </>,
    ],
    [
      say("window"),
      <>
        <Time at={text(facts.since)} /> – <Time at={text(facts.until)} />
      </>,
    ],
    [
      say("names"),
      <ul class="plain">
        {names.map(([name, count]) => (
          <li key={name}>
            {number(count)} × {isOfJobs ? <a href={href("jobs", name)}>{name}</a> : name}
          </li>
        ))}
        {Number(facts.others) > 0 && (
          <li>
            {counted(facts.others)} × {say("others")}
          </li>
        )}
      </ul>,
    ],
  ];
}

/** The way to an action; of another tenant's there is none. */
export function linked(id: string, tenant: string = me.value.tenant_id): ComponentChildren {
  if (!id) return "";
  if (tenant !== me.value.tenant_id && tenant !== SYSTEM) return <code>{id}</code>;
  return (
    <a class="mono" href={href("actions", id)}>
      {id}
    </a>
  );
}

function describe(kind: UndeliveredKind | undefined, written: unknown): string {
  return kind ? kindOfUndelivered(kind) : text(written);
}

function text(fact: unknown): string {
  return fact === null || fact === undefined ? "" : String(fact);
}

function counted(fact: unknown): string {
  return typeof fact === "number" ? number(fact) : text(fact);
}
