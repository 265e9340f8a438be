// All batches by name: how far each is, and what became of its members.

import { BatchBar } from "../charts/batch-bar";
import { href } from "../route";
import { usePages } from "../shown-pages";
import { Time } from "../time";
import { Page } from "../ui/page";
import { Pager } from "../ui/pager";
import { Empty, Shown } from "../ui/states";
import { number } from "../words";
import { say as sayShared, status as sayStatus, type Status } from "../words/shared";
import { type Batch, type ListedBatch, listBatches } from "./batches.data";
import { say } from "./batches.words";

const EVERY = 10_000;
const ENDS = ["executed", "failed", "cancelled", "skipped"] satisfies Status[];

export function BatchesScreen() {
  const live = usePages<ListedBatch, { items: ListedBatch[]; next: string | null }>(
    listBatches,
    "batches",
    EVERY,
  );
  return (
    <Page title={sayShared("batches")}>
      <Shown live={live} lines={5}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title={say("none")}>
              <p>{say("none_why")}</p>
            </Empty>
          ) : (
            <>
              <BatchTable batches={items} />
              <Pager pages={live} />
            </>
          )
        }
      </Shown>
    </Page>
  );
}

function BatchTable({ batches }: { batches: Batch[] }) {
  return (
    <div class="part scrolls">
      <table class="folds batch-table">
        <caption class="hidden">{sayShared("batches")}</caption>
        <thead>
          <tr>
            <th scope="col">{say("batch")}</th>
            <th scope="col">{say("members")}</th>
            <th scope="col">{say("opened")}</th>
            <th scope="col">{say("closed")}</th>
            <th scope="col">{say("completed")}</th>
          </tr>
        </thead>
        <tbody>
          {batches.map((batch) => (
            <BatchRow key={batch.name} batch={batch} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function BatchRow({ batch }: { batch: Batch }) {
  return (
    <tr>
      <td data-label={say("batch")}>
        <div>
          <a href={href("batches", batch.name)}>
            <bdi>{batch.name}</bdi>
          </a>
          <div>
            <StateChip batch={batch} />
          </div>
        </div>
      </td>
      <td class="batch-cell">
        <BatchBar batch={batch} />
        <Tallies batch={batch} />
      </td>
      <td data-label={say("opened")}>
        <div>
          <Time at={batch.opened_at} />
          <small class="is-moved">
            <bdi>{batch.opened_by}</bdi>
          </small>
        </div>
      </td>
      <td data-label={say("closed")} class={batch.closed_at ? undefined : "is-void"}>
        {batch.closed_at && <Time at={batch.closed_at} />}
      </td>
      <td data-label={say("completed")} class={batch.completed_at ? undefined : "is-void"}>
        {batch.completed_at && <Time at={batch.completed_at} />}
      </td>
    </tr>
  );
}

export function StateChip({ batch: { state } }: { batch: Batch }) {
  return <span class={`chip is-${state}`}>{say(state)}</span>;
}

/** How many members have each end; each leads to these members. */
export function Tallies({ batch, chosen }: { batch: Batch; chosen?: string }) {
  return (
    <ul class="tallies">
      {ENDS.filter((end) => batch[end] > 0).map((end) => (
        <li key={end}>
          <a
            class={`is-${end}`}
            href={href("batches", batch.name, { status: end })}
            aria-current={chosen === end || undefined}
          >
            {number(batch[end])} {sayStatus(end)}
          </a>
        </li>
      ))}
      {batch.left > 0 && batch.counted_at && <li class="muted">{say("left", { n: batch.left })}</li>}
    </ul>
  );
}
