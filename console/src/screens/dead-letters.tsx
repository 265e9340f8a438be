// What failed for good, by what went wrong: so that one cause is seen once, and all that it broke is set
// right at once.

import { useState } from "preact/hooks";
import { BulkButton, BulkPlace } from "../actions/bulk-dialog";
import { redrive } from "../actions/changes";
import { DismissButton } from "../actions/dismiss";
import { FilterForm } from "../actions/filter-form";
import { say as sayFilter } from "../actions/filters.words";
import { useFilters } from "../actions/filter-state";
import { type Filters, inAddress, isAny } from "../actions/filters";
import { failedAt, type Group, grouped, ofGroup } from "../actions/groups";
import { type Action, listDeadLetters, typesOf, useTypes } from "../actions/lists";
import { ActionLink, attemptsText, bounded, shortId } from "../actions/shown";
import { Views } from "../actions/views";
import { Trend } from "../charts/trend";
import { now } from "../clock";
import { useQuery } from "../query";
import { can, canManage } from "../me";
import { href } from "../route";
import { brief, Time } from "../time";
import { Act } from "../ui/act";
import { isNarrow } from "../ui/narrow";
import { Page, Part } from "../ui/page";
import { Runbook } from "../ui/runbook";
import { Empty, Shown } from "../ui/states";
import { number } from "../words";
import { say as sayShared } from "../words/shared";
import { say } from "./dead-letters.words";

const MOST = 500;
const EVERY = 10_000;
const SHOWN = 20;
const MINUTE = 60_000;

export function DeadLettersScreen() {
  const state = useFilters("dead-letters");
  const filters = state.applied;
  const key = JSON.stringify(filters);
  const live = useQuery((signal) => listDeadLetters(filters, MOST, signal), `dead letters ${key}`, EVERY);
  const types = typesOf(useTypes(), live.value?.items ?? []);
  const times = { due_after: sayFilter("failed_after"), due_until: sayFilter("failed_until") };
  const views = <Views at="dead-letters" query={inAddress(filters)} />;
  const intro = (
    <p class="muted">
      {say("intro")} <Runbook section="dead-letters" />
    </p>
  );
  return (
    <Page title={sayShared("dead_letters")}>
      {!isNarrow.value && intro}
      <FilterForm state={state} types={types} times={times} />
      {!isNarrow.value && views}
      <Part title={say("by_error")}>
        <Shown live={live} lines={5}>
          {({ items, next }) =>
            items.length === 0 ? (
              <Nothing filters={filters} isMore={next !== null} />
            ) : (
              <>
                <p class="muted">
                  {next ? say("bounded", { n: items.length }) : say("counted", { n: items.length })}
                </p>
                <Groups actions={items} filters={filters} isUsable={state.unusable.length === 0} />
              </>
            )
          }
        </Shown>
      </Part>
      {isNarrow.value && views}
      {isNarrow.value && intro}
      <BulkPlace />
    </Page>
  );
}

function Nothing({ filters, isMore }: { filters: Filters; isMore: boolean }) {
  if (isMore || isAny(filters)) {
    return (
      <Empty title={say("none")}>
        {isMore && <p>{say("none_so_far")}</p>}
        <a href={href("dead-letters")}>{sayFilter("clear")}</a>
      </Empty>
    );
  }
  return (
    <div class="state is-good">
      <p class="state-title">
        <span aria-hidden="true">✓</span> {say("good")}
      </p>
      <p>{say("good_why")}</p>
    </div>
  );
}

interface GroupsProps {
  actions: Action[];
  filters: Filters;
  /** Whether all of the address is filters: only then a group may be changed. */
  isUsable: boolean;
}

function Groups({ actions, filters, isUsable }: GroupsProps) {
  const groups = grouped(actions);
  return (
    <ul class="groups">
      {groups.map((each) => (
        <GroupItem key={each.key} group={each} filters={filters} isUsable={isUsable} />
      ))}
    </ul>
  );
}

interface GroupItemProps extends Pick<GroupsProps, "filters" | "isUsable"> {
  group: Group;
}

function GroupItem({ group, filters, isUsable }: GroupItemProps) {
  const [shown, setShown] = useState(SHOWN);
  const until = Math.ceil(now.value / MINUTE) * MINUTE;
  const { actions } = group;
  const n = actions.length;
  const isManaged = isUsable && actions.every((each) => canManage("actions:manage", each.tenant_id));
  return (
    <li class="group">
      <details>
        <summary>
          <span class="group-count">{number(n)}</span>
          <span class="group-error">
            <bdi class="mono">{bounded(group.error) || say("no_reason")}</bdi>
            <small>
              {group.type} ·{" "}
              {n > 1
                ? say("since", { first: brief(group.first), last: brief(group.last) })
                : brief(group.last)}
            </small>
          </span>
          <Trend times={actions.map(failedAt)} until={until} />
        </summary>
        <Letters actions={actions.slice(0, shown)} />
        {n > shown && (
          <p class="muted">
            {say("more_in", { n: n - shown })}{" "}
            <button type="button" class="link" onClick={() => setShown(n)}>
              {say("show_more")}
            </button>
          </p>
        )}
      </details>
      {isManaged && can("actions:manage") && (
        <BulkButton kind="redrive" label={say("redrive_group", { n })} make={() => ofGroup(group, filters)} />
      )}
    </li>
  );
}

function Letters({ actions }: { actions: Action[] }) {
  return (
    <div class="scrolls">
      <table class="folds action-table">
        <thead>
          <tr>
            <th scope="col">{say("action")}</th>
            <th scope="col">{say("failed_at")}</th>
            <th scope="col">{say("correlation_id")}</th>
            <th scope="col" class="is-number">
              {say("attempts")}
            </th>
            <th scope="col">{say("message")}</th>
            <th scope="col">
              <span class="hidden">{say("redrive")}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {actions.map((each) => (
            <Letter key={each.id} action={each} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Letter({ action }: { action: Action }) {
  const id = action.correlation_id;
  return (
    <tr>
      <td data-label={say("action")}>
        <ActionLink id={action.id} />
      </td>
      <td data-label={say("failed_at")} class="nowrap">
        <Time at={failedAt(action)} />
      </td>
      <td data-label={say("correlation_id")} class={id ? undefined : "is-void"}>
        {id && (
          <a class="cut" href={href("dead-letters", { correlation_id: id })} title={id}>
            <bdi>{bounded(id)}</bdi>
          </a>
        )}
      </td>
      <td data-label={say("attempts")} class="is-number">
        {attemptsText(action)}
      </td>
      <td data-label={say("message")}>
        <div class="message" title={bounded(action.failure_reason ?? "")}>
          <bdi>{bounded(action.failure_reason ?? "")}</bdi>
        </div>
      </td>
      <td>
        {canManage("actions:manage", action.tenant_id) && (
          <span class="letter-acts">
            <Act
              label={say("redrive")}
              name={say("redrive_name", { id: shortId(action.id) })}
              run={() => redrive(action.id, action.type)}
            />
            <DismissButton action={action} name={say("dismiss_name", { id: shortId(action.id) })} />
          </span>
        )}
      </td>
    </tr>
  );
}
