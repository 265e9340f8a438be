// One batch: how far it is, what may be done to it, and its members.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { BulkButton, BulkPlace } from "../actions/bulk-dialog";
import { ofBatch } from "../actions/bulk-batch";
import type { Action, Read } from "../actions/lists";
import { ActionLink } from "../actions/shown";
import { BatchBar } from "../charts/batch-bar";
import { useQuery } from "../query";
import { can } from "../me";
import { go, href, place } from "../route";
import { usePages } from "../shown-pages";
import { Time } from "../time";
import { Act } from "../ui/act";
import { Page, Part } from "../ui/page";
import { Pager } from "../ui/pager";
import { Empty, Shown } from "../ui/states";
import { say as sayShared, STATUSES, status as sayStatus, type Status } from "../words/shared";
import { ActionTable } from "./action-table";
import { StateChip, Tallies } from "./batches";
import { type Batch, closeBatch, getBatch, listMembers } from "./batches.data";
import { say } from "./batches.words";

const MOVING = 5_000;
const RESTING = 30_000;

export function BatchScreen({ name }: { name: string }) {
  const [every, setEvery] = useState(MOVING);
  const live = useQuery(
    async (signal) => {
      const read = await getBatch(name, signal);
      setEvery(paceOf(read));
      return read;
    },
    `batch ${name}`,
    every,
  );
  const batch = live.value;
  return (
    <Page
      title={name}
      above={<a href={href("batches")}>{sayShared("batches")}</a>}
      aside={batch && can("actions:manage") && <Buttons batch={batch} />}
    >
      <Shown live={live} lines={6}>
        {(shown) => (
          <>
            <Head batch={shown} />
            <Members batch={shown} />
          </>
        )}
      </Shown>
      <BulkPlace />
    </Page>
  );
}

/** A complete batch changes by a redrive only. */
function paceOf({ state }: Batch): number {
  return state === "complete" ? RESTING : MOVING;
}

function Buttons({ batch }: { batch: Batch }) {
  const mayEnd = batch.left > 0 || batch.state === "open";
  return (
    <>
      {batch.state === "open" && <CloseButton batch={batch} />}
      {mayEnd && <BulkButton kind="cancel" label={say("cancel")} make={() => ofBatch("cancel", batch)} />}
      {batch.failed > 0 && (
        <BulkButton kind="redrive" label={say("redrive")} make={() => ofBatch("redrive", batch)} />
      )}
    </>
  );
}

function CloseButton({ batch }: { batch: Batch }) {
  return (
    <Act
      label={say("close")}
      ask={{
        title: say("close_title"),
        body: <p>{say("close_body", { n: batch.size })}</p>,
        go: say("close_go"),
      }}
      run={async () => {
        await closeBatch(batch.name);
        return say("closed_now", { name: batch.name });
      }}
    />
  );
}

function Head({ batch }: { batch: Batch }) {
  return (
    <div class="card">
      <BatchBar batch={batch} />
      <Tallies batch={batch} />
      <dl class="head-facts is-bare">
        <Fact name={say("state")}>
          <StateChip batch={batch} />
        </Fact>
        <Fact name={say("opened")}>
          <Time at={batch.opened_at} /> <small>{say("by", { by: batch.opened_by })}</small>
        </Fact>
        {batch.closed_at && (
          <Fact name={say("closed")}>
            <Time at={batch.closed_at} /> <small>{say("by", { by: batch.closed_by ?? "" })}</small>
          </Fact>
        )}
        {batch.completed_at && (
          <Fact name={say("completed")}>
            <Time at={batch.completed_at} />
          </Fact>
        )}
        {batch.counted_at && batch.state !== "complete" && (
          <Fact name={say("counted")}>
            <Time at={batch.counted_at} as="away" />
          </Fact>
        )}
        {batch.on_complete && (
          <Fact name={say("on_complete")}>
            <ActionLink id={batch.on_complete} />
          </Fact>
        )}
      </dl>
    </div>
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

function Members({ batch }: { batch: Batch }) {
  const { query } = place.value;
  const status = STATUSES.find((known) => known === query.get("status"));
  const read = (at: string | undefined, signal: AbortSignal) => listMembers(batch.name, status, at, signal);
  const key = `members ${batch.name} ${status ?? ""}`;
  const live = usePages<Action, Read>(read, key, paceOf(batch));
  return (
    <Part title={say("members")} aside={<StatusChoice name={batch.name} status={status} />}>
      <Shown live={live} lines={6}>
        {({ items, next }) => (
          <>
            {items.length > 0 && <ActionTable actions={items} />}
            {items.length === 0 && (
              <Empty title={say(next ? "none_so_far" : status ? "none_of_status" : "no_member")}>
                {status && <a href={href("batches", batch.name)}>{say("all_members")}</a>}
              </Empty>
            )}
            <Pager pages={live} />
          </>
        )}
      </Shown>
    </Part>
  );
}

function StatusChoice({ name, status }: { name: string; status: Status | undefined }) {
  return (
    <label class="status-choice">
      <span>{sayShared("status")}</span>
      <select
        value={status ?? ""}
        onChange={(event) => go(href("batches", name, { status: event.currentTarget.value }))}
      >
        <option value="">{sayShared("all")}</option>
        {STATUSES.map((known) => (
          <option key={known} value={known}>
            {sayStatus(known)}
          </option>
        ))}
      </select>
    </label>
  );
}
