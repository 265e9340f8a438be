// The changes that wait for a second person: what each would do, and who requested it.

import { api, call, type Schemas } from "../api";
import { can, me } from "../me";
import { useQuery } from "../query";
import { Time } from "../time";
import { Act } from "../ui/act";
import { Page } from "../ui/page";
import { Empty, Shown } from "../ui/states";
import { say as sayShared } from "../words/shared";
import { say } from "./confirmations.words";

type Confirmation = Schemas["ConfirmationView"];

const EVERY = 10_000;

const KNOWN = ["cancelActions", "cancelBatch", "cancelBackfill", "unregisterJob", "pauseWork"] as const;

export function ConfirmationsScreen() {
  const live = useQuery(
    async (signal) => (await call(api.GET("/confirmations", { signal }))).items,
    "confirmations",
    EVERY,
  );
  return (
    <Page title={sayShared("confirmations")}>
      <Shown live={live} lines={3}>
        {(items) =>
          items.length === 0 ? (
            <Empty title={say("none")}>
              <p>{say("none_why")}</p>
            </Empty>
          ) : (
            <ul class="stack">
              {items.map((item) => (
                <Waiting key={item.id} item={item} />
              ))}
            </ul>
          )
        }
      </Shown>
    </Page>
  );
}

function Waiting({ item }: { item: Confirmation }) {
  const isOwn = item.requested_by === me.value.actor;
  const operation = KNOWN.find((name) => name === item.operation);
  return (
    <li class="card">
      <p>
        <strong>{operation ? say(operation) : item.operation}</strong>{" "}
        {item.count !== null && (
          <span class="chip">{say(item.more ? "count_more" : "count", { n: item.count })}</span>
        )}
      </p>
      <Request item={item} />
      <p>
        {say("by", { by: item.requested_by })}{" "}
        <small>
          <Time at={item.requested_at} />, {say("until")} <Time at={item.confirm_until} />
        </small>
      </p>
      {isOwn && <p class="muted">{say("own")}</p>}
      {can("actions:manage", "jobs:manage") && (
        <div class="asides">
          {!isOwn && (
            <Act
              label={say("confirm")}
              kind="danger"
              ask={{ title: say("confirm_title"), go: say("confirm_go"), body: <Body item={item} /> }}
              run={() => confirm(item.id)}
            />
          )}
          <Act label={say("withdraw")} run={() => withdraw(item.id)} />
        </div>
      )}
    </li>
  );
}

function Body({ item }: { item: Confirmation }) {
  return (
    <>
      <Request item={item} />
      <p>{say("confirm_body")}</p>
    </>
  );
}

/** The request as it was sent: its path, and the fields of its body. */
function Request({ item }: { item: Confirmation }) {
  const fields = Object.entries(item.body ?? {});
  return (
    <ul class="examples">
      <li class="mono">{item.path}</li>
      {fields.map(([name, value]) => (
        <li key={name}>
          <span class="mono">{name}</span>{" "}
          <bdi>{typeof value === "string" ? value : JSON.stringify(value)}</bdi>
        </li>
      ))}
    </ul>
  );
}

/** Makes all steps of the change. */
async function confirm(id: string): Promise<string> {
  let [changed, left] = [0, 0];
  let cursor: string | null = null;
  do {
    const params = { path: { confirmation_id: id } };
    const step: Schemas["ConfirmedView"] = await call(
      api.POST("/confirmations/{confirmation_id}/confirm", { params, body: { cursor } }),
    );
    changed += step.changed;
    left += step.left.length;
    cursor = step.next_cursor;
  } while (cursor !== null);
  return [say("done", { n: changed }), left > 0 && say("left", { n: left })].filter(Boolean).join(" ");
}

async function withdraw(id: string): Promise<string> {
  await call(api.DELETE("/confirmations/{confirmation_id}", { params: { path: { confirmation_id: id } } }));
  return say("withdrawn");
}
