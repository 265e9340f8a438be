// All actions: found by their correlation id or by what else is known of them, and changed one or many at a
// time.

import { BulkButton, BulkPlace } from "../actions/bulk-dialog";
import { type BulkKind, byFilters, isPossible } from "../actions/bulk";
import { say as sayBulk } from "../actions/bulk.words";
import { FilterForm } from "../actions/filter-form";
import { say as sayFilter } from "../actions/filters.words";
import { type FilterState, useFilters } from "../actions/filter-state";
import { type Filters, isAny } from "../actions/filters";
import { type Action, listActions, type Read, typesOf, useTypes } from "../actions/lists";
import { ScheduleButton } from "../actions/schedule";
import { ActionLink, attemptsText, bounded, DueCell, lastMessage, TypeCell } from "../actions/shown";
import { can } from "../me";
import { href, place } from "../route";
import { usePages } from "../shown-pages";
import { Time, written } from "../time";
import { Page, Part } from "../ui/page";
import { Pager } from "../ui/pager";
import { Empty, Shown } from "../ui/states";
import { StatusBadge } from "../ui/status";
import { say as sayShared, statusOf } from "../words/shared";
import { say } from "./actions.words";

const MOVING = 5_000;
const RESTING = 15_000;
const SCANNED = 60_000;
const SHORT = 50;

export function ActionsScreen() {
  const state = useFilters("actions");
  const filters = state.applied;
  const cursor = place.value.query.get("cursor") ?? undefined;
  const key = JSON.stringify([filters, cursor]);
  const read = (at: string | undefined, signal: AbortSignal) => listActions(filters, at, signal);
  const live = usePages<Action, Read>(read, cursor, `actions ${key}`, pace(filters));
  const types = typesOf(useTypes(), live.value?.items ?? []);
  const times = {
    due_after: sayFilter("due_after"),
    due_until: sayFilter("due_until"),
    created_after: sayFilter("created_after"),
    created_until: sayFilter("created_until"),
  };
  return (
    <Page title={sayShared("actions")} aside={can("actions:manage") && <ScheduleButton types={types} />}>
      <FilterForm state={state} types={types} times={times} hasStatus />
      <Part title={sayShared("actions")} aside={can("actions:manage") && <Bulks state={state} />}>
        <Shown live={live} lines={8}>
          {({ items, next, includesRuns, scanned }) => (
            <>
              <p class="muted">{sayFilter(includesRuns ? "with_runs" : "without_runs")}</p>
              {scanned && (
                <p class="muted">
                  {next && scanned.until
                    ? say("scanned", { n: scanned.rows, at: written(scanned.until) })
                    : say("scanned_all", { n: scanned.rows })}
                </p>
              )}
              {items.length > 0 && <ActionTable actions={items} />}
              {items.length === 0 && <Nothing filters={filters} next={next} grow={live.grow} />}
              {next && items.length > 0 && items.length < SHORT && <p class="muted">{say("short")}</p>}
              {items.length > 0 && <Pager at={["actions"]} pages={live} />}
            </>
          )}
        </Shown>
      </Part>
      <BulkPlace />
    </Page>
  );
}

/** What is settled moves rarely; a search that compares rows one by one is repeated once a minute. */
function pace({ status, error, payload }: Filters): number {
  if (error || payload) return SCANNED;
  const isMoving =
    !status?.length ||
    status.includes("pending") ||
    status.includes("retrying") ||
    status.includes("processing");
  return isMoving ? MOVING : RESTING;
}

function Bulks({ state }: { state: FilterState }) {
  if (state.unusable.length > 0) return null;
  const kinds = (["cancel", "redrive"] satisfies BulkKind[]).filter((each) =>
    isPossible(each, state.applied),
  );
  return (
    <div class="asides">
      {kinds.map((each) => (
        <BulkButton
          key={each}
          kind={each}
          label={sayBulk(`${each}_all`)}
          make={() => byFilters(each, state.apply())}
        />
      ))}
    </div>
  );
}

interface NothingProps {
  filters: Filters;
  next: string | null;
  grow: () => void;
}

function Nothing({ filters, next, grow }: NothingProps) {
  if (next) {
    return (
      <Empty title={say("none_so_far")}>
        <p>{say("none_so_far_why")}</p>
        <button type="button" onClick={grow}>
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

/** Actions in rows, which become cards on narrow screens. */
export function ActionTable({ actions }: { actions: Action[] }) {
  return (
    <div class="scrolls">
      <table class="folds action-table">
        <caption class="hidden">{say("caption")}</caption>
        <thead>
          <tr>
            <th scope="col">{sayShared("status")}</th>
            <th scope="col">{say("action")}</th>
            <th scope="col">{say("correlation_id")}</th>
            <th scope="col">{say("nominal")}</th>
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
