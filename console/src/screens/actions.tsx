// All actions: found by their correlation id or by what else is known of them, and changed one or many at a
// time.

import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { BulkButton, BulkPlace } from "../actions/bulk-dialog";
import { type BulkKind, byFilters, byIds, isPossible, TAKES } from "../actions/bulk";
import { say as sayBulk } from "../actions/bulk.words";
import { FilterForm } from "../actions/filter-form";
import { say as sayFilter } from "../actions/filters.words";
import { type FilterState, useFilters } from "../actions/filter-state";
import { type Filters, inAddress, isAny } from "../actions/filters";
import { type Action, listActions, type Read, typesOf, useTypes } from "../actions/lists";
import { ScheduleButton } from "../actions/schedule";
import { Views } from "../actions/views";
import { can } from "../me";
import { href } from "../route";
import { usePages } from "../shown-pages";
import { written } from "../time";
import { isNarrow } from "../ui/narrow";
import { Page, Part } from "../ui/page";
import { Pager } from "../ui/pager";
import { Empty, Shown } from "../ui/states";
import { say as sayShared, statusOf } from "../words/shared";
import { ActionTable } from "./action-table";
import { say } from "./actions.words";

const MOVING = 5_000;
const RESTING = 15_000;
const SCANNED = 60_000;
const SHORT = 50;

export function ActionsScreen() {
  const state = useFilters("actions");
  const filters = state.applied;
  const key = JSON.stringify(filters);
  const read = (at: string | undefined, signal: AbortSignal) => listActions(filters, at, signal);
  const live = usePages<Action, Read>(read, `actions ${key}`, pace(filters));
  const chosen = useSignal<ReadonlySet<string>>(new Set());
  useEffect(() => {
    chosen.value = new Set();
  }, [key]);
  const types = typesOf(useTypes(), live.value?.items ?? []);
  const times = {
    due_after: sayFilter("due_after"),
    due_until: sayFilter("due_until"),
    created_after: sayFilter("created_after"),
    created_until: sayFilter("created_until"),
  };
  const views = <Views at="actions" query={inAddress(filters)} />;
  return (
    <Page title={sayShared("actions")} aside={can("actions:manage") && <ScheduleButton types={types} />}>
      <FilterForm state={state} types={types} times={times} hasStatus />
      {!isNarrow.value && views}
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
              {can("actions:manage") && <Chosen actions={items} chosen={chosen} />}
              {items.length > 0 && (
                <ActionTable actions={items} chosen={can("actions:manage") ? chosen : undefined} />
              )}
              {items.length === 0 && <Nothing filters={filters} next={next} grow={live.grow} />}
              {next && items.length > 0 && items.length < SHORT && <p class="muted">{say("short")}</p>}
              {items.length > 0 && <Pager pages={live} />}
            </>
          )}
        </Shown>
      </Part>
      {isNarrow.value && views}
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

/** The changes of the rows that are chosen; each takes those whose status allows it. */
function Chosen({ actions, chosen }: { actions: Action[]; chosen: Signal<ReadonlySet<string>> }) {
  const meant = actions.filter((action) => chosen.value.has(action.id));
  if (meant.length === 0) return null;
  return (
    <div class="asides chosen" role="group" aria-label={say("chosen", { n: meant.length })}>
      <span>{say("chosen", { n: meant.length })}</span>
      {(["cancel", "redrive"] satisfies BulkKind[]).map((kind) => {
        const possible = meant.filter((action) => TAKES[kind].includes(statusOf(action)));
        if (possible.length === 0) return null;
        const n = possible.length;
        const make = () => ({ ...byIds(kind, possible), about: say("chosen", { n }) });
        return <BulkButton key={kind} kind={kind} label={sayBulk(`${kind}_chosen`, { n })} make={make} />;
      })}
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
