// One line that says whether all is on time, and what is not.

import type { ComponentChildren } from "preact";
import { type Live, now } from "../live";
import { can, me, SYSTEM } from "../me";
import { href } from "../route";
import { distance, span } from "../time";
import { Failure, Loading } from "../ui/states";
import { number } from "../words";
import { type Health, useLate } from "./overview.data";
import { mine } from "./overview.words";

const LATE = 60_000;

export function Standing({ health }: { health: Live<Health | null> }) {
  const late = useLate();
  if (can("system")) return <Loaded live={health}>{(value) => <OfAll health={value} />}</Loaded>;
  if (!can("actions:read")) return <Line isWell={null} text={mine("unknown")} />;
  return <Loaded live={late}>{(value) => <OfOwn late={value} />}</Loaded>;
}

function Loaded<T>({ live, children }: { live: Live<T | null>; children: (value: T) => ComponentChildren }) {
  if (live.value) return <>{children(live.value)}</>;
  if (live.problem) return <Failure problem={live.problem} retry={live.refresh} />;
  return <Loading lines={1} />;
}

/** For an operator of the deployment. */
function OfAll({ health }: { health: Health }) {
  const oldest = health.oldest_overdue;
  const by = oldest ? now.value - Date.parse(oldest.due_at) : 0;
  const flaws = [
    ...(health.enabled ? [] : [mine("off")]),
    ...(by > LATE ? [mine("late_some", { span: span(by) })] : []),
    ...(health.ill.length > 0 ? [mine("ill", { parts: health.ill.join(", ") })] : []),
  ];
  const swept = health.swept_until && mine("swept", { ago: distance(health.swept_until) });
  return (
    <Line isWell={flaws.length === 0} text={flaws.join(". ") || mine("on_time")}>
      {oldest && by > LATE && <Oldest id={oldest.id} tenant={oldest.tenant_id} />}
      {swept && <small>{swept}</small>}
    </Line>
  );
}

function Oldest({ id, tenant }: { id: string; tenant: string }) {
  if (tenant === me.value.tenant_id || tenant === SYSTEM) {
    return <a href={href("actions", id)}>{mine("see_oldest")}</a>;
  }
  return <span title={id}>{mine("of_tenant", { tenant })}</span>;
}

/** For a tenant: from its own pending actions. */
function OfOwn({ late }: { late: { items: { id: string; due_at: string }[]; more: boolean } }) {
  const oldest = late.items[0];
  const judged = <small>{mine("judged")}</small>;
  if (!oldest) {
    return (
      <Line isWell text={mine("on_time")}>
        {judged}
      </Line>
    );
  }
  const values = { n: late.items.length, span: span(now.value - Date.parse(oldest.due_at)) };
  const text = late.more ? mine("late_many", { ...values, n: number(values.n) }) : mine("late", values);
  return (
    <Line isWell={false} text={text}>
      <a href={href("actions", oldest.id)}>{mine("see_oldest")}</a>
      {judged}
    </Line>
  );
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
