// One line that says whether all is on time, and what is not.

import type { ComponentChildren } from "preact";
import { now } from "../clock";
import { type QueryResult } from "../query";
import { can, me, SYSTEM } from "../me";
import { href } from "../route";
import type { Gathered } from "../pages";
import { distance, span, Time } from "../time";
import { explained, Failure, Loading } from "../ui/states";
import { number } from "../words";
import { say } from "../words/shared";
import { type Health, useLate } from "./overview.data";
import { mine } from "./overview.words";

const LATE = 60_000;
/** As the API judges it. */
const MISSED_SWEEPS = 3;

export function Standing({ health }: { health: QueryResult<Health | null> }) {
  const late = useLate();
  if (can("system")) return <Judged live={health} judge={ofAll} />;
  if (!can("actions:read")) return <Line isWell={null} text={mine("unknown")} />;
  return <Judged live={late} judge={ofOwn} />;
}

interface JudgedProps<T> {
  live: QueryResult<T | null>;
  judge: (value: T) => LineProps;
}

/** What the newest data show; data of a failed poll, or older than two polls, show nothing for certain. */
function Judged<T>({ live, judge }: JudgedProps<T>) {
  if (!live.value) {
    if (live.problem) return <Failure problem={live.problem} retry={live.refresh} />;
    return <Loading lines={1} />;
  }
  const line = judge(live.value);
  if (!live.problem && !live.isOld()) return <Line {...line} />;
  return (
    <Line isWell={null} text={mine("uncertain")}>
      <span>
        {mine("last_known")} <Time at={live.at} />: {line.text}.
      </span>
      {live.problem && <span>{explained(live.problem).why}</span>}
      <button type="button" class="link" onClick={live.refresh}>
        {say("retry")}
      </button>
    </Line>
  );
}

/** For an operator of the deployment. */
function ofAll(health: Health): LineProps {
  const oldest = health.oldest_overdue;
  const by = oldest ? now.value - Date.parse(oldest.due_at) : 0;
  const sweptFor = health.swept_until && now.value - Date.parse(health.swept_until);
  const isSweepOld = sweptFor ? sweptFor > MISSED_SWEEPS * health.limits.sweep_rate * 1_000 : false;
  const flaws = [
    ...(health.enabled ? [] : [mine("off")]),
    ...(by > LATE ? [mine("late_some", { span: span(by) })] : []),
    ...(isSweepOld && health.enabled ? [mine("sweep_old", { span: span(Number(sweptFor)) })] : []),
    ...(health.ill.length > 0 ? [mine("ill", { parts: health.ill.join(", ") })] : []),
  ];
  if (flaws.length === 0 && !health.swept_until) return { isWell: null, text: mine("never_swept") };
  const swept = health.swept_until && mine("swept", { ago: distance(health.swept_until) });
  return {
    isWell: flaws.length === 0,
    text: flaws.join(". ") || mine("on_time"),
    children: (
      <>
        {oldest && by > LATE && <Oldest id={oldest.id} tenant={oldest.tenant_id} />}
        {swept && <small>{swept}</small>}
      </>
    ),
  };
}

function Oldest({ id, tenant }: { id: string; tenant: string }) {
  if (tenant === me.value.tenant_id || tenant === SYSTEM) {
    return <a href={href("actions", id)}>{mine("see_oldest")}</a>;
  }
  return <span title={id}>{mine("of_tenant", { tenant })}</span>;
}

/** For a tenant: from its own pending actions. */
function ofOwn(late: Gathered<{ id: string; due_at: string }>): LineProps {
  const oldest = late.items[0];
  const judged = <small>{mine("judged")}</small>;
  if (!oldest) return { isWell: true, text: mine("on_time"), children: judged };
  const values = { n: late.items.length, span: span(now.value - Date.parse(oldest.due_at)) };
  const text = late.more ? mine("late_many", { ...values, n: number(values.n) }) : mine("late", values);
  return {
    isWell: false,
    text,
    children: (
      <>
        <a href={href("actions", oldest.id)}>{mine("see_oldest")}</a>
        {judged}
      </>
    ),
  };
}

interface LineProps {
  /** Null if it is unknown. */
  isWell: boolean | null;
  text: string;
  children?: ComponentChildren;
}

function Line({ isWell, text, children }: LineProps) {
  const tone = isWell === null ? "is-unknown" : isWell ? "is-well" : "is-ill";
  return (
    <p class={`standing ${tone}`}>
      <span class="standing-mark" aria-hidden="true">
        {isWell === null ? "?" : isWell ? "✓" : "!"}
      </span>
      <strong>{text}</strong>
      {children}
    </p>
  );
}
