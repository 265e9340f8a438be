// Actions in rows, which become cards on narrow screens; sorted and chosen where the screen allows it.

import type { Signal } from "@preact/signals";
import { useState } from "preact/hooks";
import type { Action } from "../actions/lists";
import { ActionLink, attemptsText, bounded, DueCell, lastMessage, shortId, TypeCell } from "../actions/shown";
import { href } from "../route";
import { Time } from "../time";
import { StatusBadge } from "../ui/status";
import { say as sayShared, statusOf } from "../words/shared";
import { say } from "./actions.words";

type Column = "status" | "type" | "correlation_id" | "nominal_at" | "attempts" | "created_at";

interface Order {
  column: Column;
  isDown: boolean;
}

interface SortHeadProps {
  column: Column;
  label: string;
  isNumber: boolean;
  order: Order | null;
  setOrder: (order: Order | null) => void;
}

/** A column's head: a click sorts up, the next one down, and the third restores the API's order. */
function SortHead({ column, label, isNumber, order, setOrder }: SortHeadProps) {
  const isSorted = order?.column === column;
  const next = isSorted ? (order.isDown ? null : { column, isDown: true }) : { column, isDown: false };
  return (
    <th
      scope="col"
      class={isNumber ? "is-number" : undefined}
      aria-sort={isSorted ? (order.isDown ? "descending" : "ascending") : undefined}
    >
      <button type="button" class="sort" onClick={() => setOrder(next)}>
        {label}
        {isSorted && <span aria-hidden="true">{order.isDown ? " ▼" : " ▲"}</span>}
      </button>
    </th>
  );
}

/** The actions that are loaded, in the order of a column; without one in the API's. */
function sorted(actions: Action[], order: Order | null): Action[] {
  if (!order) return actions;
  const valueOf = (action: Action): string | number =>
    order.column === "attempts"
      ? (action.attempts.at(-1)?.number ?? 0)
      : order.column === "status"
        ? statusOf(action)
        : (action[order.column] ?? "");
  const sign = order.isDown ? -1 : 1;
  return actions.toSorted((a, b) => {
    const [first, second] = [valueOf(a), valueOf(b)];
    return first < second ? -sign : first > second ? sign : 0;
  });
}

/** Actions in rows, which become cards on narrow screens. */
export function ActionTable({
  actions,
  chosen,
}: {
  actions: Action[];
  chosen?: Signal<ReadonlySet<string>>;
}) {
  const [order, setOrder] = useState<Order | null>(null);
  const isAll = actions.every((action) => chosen?.value.has(action.id));
  const sorts = (column: Column, label: string, isNumber = false) => (
    <SortHead {...{ column, label, isNumber, order, setOrder }} />
  );
  return (
    <div class="scrolls">
      <table class="folds action-table has-callers">
        <caption class="hidden">{say("caption")}</caption>
        <thead>
          <tr>
            {chosen && (
              <th scope="col">
                <input
                  type="checkbox"
                  aria-label={say("choose_all")}
                  checked={isAll}
                  onChange={() => {
                    chosen.value = new Set(isAll ? [] : actions.map((action) => action.id));
                  }}
                />
              </th>
            )}
            {sorts("status", sayShared("status"))}
            {sorts("type", say("action"))}
            {sorts("correlation_id", say("correlation_id"))}
            {sorts("nominal_at", say("nominal"))}
            {sorts("attempts", say("attempts"), true)}
            {sorts("created_at", say("by"))}
            <th scope="col">{say("message")}</th>
          </tr>
        </thead>
        <tbody>
          {sorted(actions, order).map((action) => (
            <ActionRow key={action.id} action={action} chosen={chosen} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function ActionRow({ action, chosen }: { action: Action; chosen?: Signal<ReadonlySet<string>> }) {
  const message = lastMessage(action);
  const id = action.correlation_id;
  return (
    <tr>
      {chosen && (
        <td data-label={say("choose")}>
          <input
            type="checkbox"
            aria-label={say("choose_one", { id: shortId(action.id) })}
            checked={chosen.value.has(action.id)}
            onChange={(event) => {
              const ids = new Set(chosen.value);
              if (event.currentTarget.checked) ids.add(action.id);
              else ids.delete(action.id);
              chosen.value = ids;
            }}
          />
        </td>
      )}
      <td data-label={sayShared("status")}>
        <StatusBadge status={statusOf(action)} />
      </td>
      <td data-label={say("action")}>
        <div>
          <TypeCell action={action} />
          <div>
            <ActionLink id={action.id} />
          </div>
        </div>
      </td>
      <td data-label={say("correlation_id")} class={id ? undefined : "is-void"}>
        {id && (
          <a class="cut" href={href("actions", { correlation_id: id })} title={say("by_correlation", { id })}>
            <bdi>{bounded(id)}</bdi>
          </a>
        )}
      </td>
      <td data-label={say("nominal")}>
        <div>
          <DueCell action={action} />
        </div>
      </td>
      <td data-label={say("attempts")} class="is-number">
        {attemptsText(action)}
      </td>
      <td data-label={say("by")}>
        <div>
          <div class="cut" title={action.created_by}>
            <bdi>{action.created_by}</bdi>
          </div>
          <small>
            <Time at={action.created_at} />
          </small>
        </div>
      </td>
      <td data-label={say("message")} class={message ? undefined : "is-void"}>
        <div class="message" title={bounded(message)}>
          <bdi>{bounded(message)}</bdi>
        </div>
      </td>
    </tr>
  );
}
