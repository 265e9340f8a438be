// All actions: found by their correlation id or by what else is known of them, and changed one or many at a
// time.

import { BulkButton, BulkPlace } from "../actions/bulk-dialog";
import { type BulkKind, byFilters, isPossible } from "../actions/bulk";
import { say as sayBulk } from "../actions/bulk.words";
import { FilterForm } from "../actions/filter-form";
import { say as sayFilter } from "../actions/filters.words";
import { asked, type Filters, inAddress, isAny } from "../actions/filters";
import { type Action, listActions, typesOf, useTypes } from "../actions/lists";
import { ScheduleButton } from "../actions/schedule";
import { ActionLink, attemptsText, DueCell, lastMessage, TypeCell } from "../actions/shown";
import { useLive } from "../live";
import { can } from "../me";
import { go, href } from "../route";
import { Time } from "../time";
import { Page, Part } from "../ui/page";
import { Pager } from "../ui/pager";
import { Empty, Shown } from "../ui/states";
import { StatusBadge } from "../ui/status";
import { say as sayShared } from "../words/shared";
import { say } from "./actions.words";

const MOVING = 5_000;
const RESTING = 15_000;
const SHORT = 50;

export function ActionsScreen() {
  const { filters, cursor, key } = asked();
  const live = useLive(
    (signal) => listActions(filters, cursor, signal),
    `actions ${key}`,
    pace(filters, cursor),
  );
  const types = typesOf(useTypes(), live.value?.items ?? []);
  const times = {
    due_after: sayFilter("due_after"),
    due_until: sayFilter("due_until"),
    created_after: sayFilter("created_after"),
    created_until: sayFilter("created_until"),
  };
  return (
    <Page title={sayShared("actions")} aside={can("actions:manage") && <ScheduleButton types={types} />}>
      <FilterForm at="actions" filters={filters} types={types} times={times} hasStatus />
      <Part title={sayShared("actions")} aside={can("actions:manage") && <Bulks filters={filters} />}>
        <Shown live={live} lines={8}>
          {({ items, next }) => (
            <>
              {items.length > 0 && <ActionTable actions={items} />}
              {items.length === 0 && <Nothing filters={filters} next={next} />}
              {next && items.length > 0 && items.length < SHORT && <p class="muted">{say("short")}</p>}
              {items.length > 0 && <Pager at={["actions"]} next={next} />}
            </>
          )}
        </Shown>
      </Part>
      <BulkPlace />
    </Page>
  );
}

/** Only the first page moves; what is settled moves rarely. */
function pace({ status }: Filters, cursor: string | undefined): number {
  if (cursor) return Number.POSITIVE_INFINITY;
  const isMoving = !status?.length || status.includes("pending") || status.includes("processing");
  return isMoving ? MOVING : RESTING;
}

function Bulks({ filters }: { filters: Filters }) {
  const kinds = (["cancel", "redrive"] satisfies BulkKind[]).filter((each) => isPossible(each, filters));
  return (
    <div class="asides">
      {kinds.map((each) => (
        <BulkButton key={each} label={sayBulk(`${each}_all`)} make={() => byFilters(each, filters)} />
      ))}
    </div>
  );
}

function Nothing({ filters, next }: { filters: Filters; next: string | null }) {
  if (next) {
    return (
      <Empty title={say("none_so_far")}>
        <p>{say("none_so_far_why")}</p>
        <button type="button" onClick={() => go(href("actions", { ...inAddress(filters), cursor: next }))}>
          {say("further")}
        </button>
      </Empty>
    );
  }
  const isFiltered = isAny(filters);
  return (
    <Empty title={say(isFiltered ? "empty" : "nothing")}>
      <p>{say(isFiltered ? "empty_why" : "nothing_why")}</p>
      {isFiltered && <a href={href("actions")}>{sayFilter("clear")}</a>}
    </Empty>
  );
}

function ActionTable({ actions }: { actions: Action[] }) {
  return (
    <div class="scrolls">
      <table class="folds action-table">
        <caption class="hidden">{say("caption")}</caption>
        <thead>
          <tr>
            <th scope="col">{sayShared("status")}</th>
            <th scope="col">{say("action")}</th>
            <th scope="col">{say("correlation_id")}</th>
            <th scope="col">{sayShared("due")}</th>
            <th scope="col" class="is-number">
              {say("attempts")}
            </th>
            <th scope="col">{say("by")}</th>
            <th scope="col">{say("message")}</th>
          </tr>
        </thead>
        <tbody>
          {actions.map((each) => (
            <ActionRow key={each.id} action={each} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function ActionRow({ action }: { action: Action }) {
  const message = lastMessage(action);
  const id = action.correlation_id;
  return (
    <tr>
      <td data-label={sayShared("status")}>
        <StatusBadge status={action.status} />
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
            {id}
          </a>
        )}
      </td>
      <td data-label={sayShared("due")}>
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
            {action.created_by}
          </div>
          <small>
            <Time at={action.created_at} />
          </small>
        </div>
      </td>
      <td data-label={say("message")} class={message ? undefined : "is-void"}>
        <div class="message" title={message}>
          {message}
        </div>
      </td>
    </tr>
  );
}
