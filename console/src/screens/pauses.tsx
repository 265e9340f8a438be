// The pauses of types, keys, workers and tenants: those in force, and those whose waiting work is spread.

import { api, call, type Schemas } from "../api";
import { useQuery } from "../query";
import { can } from "../me";
import { href } from "../route";
import { Time, zone } from "../time";
import { Act, Field } from "../ui/act";
import { Page } from "../ui/page";
import { Empty, Shown } from "../ui/states";
import { say as sayShared } from "../words/shared";
import { instantOf } from "./job/days";
import { say } from "./pauses.words";

type WorkPause = Schemas["WorkPauseView"];
type Scope = Schemas["PauseScope"];

const EVERY = 10_000;
const SCOPES: Scope[] = ["type", "concurrency-key", "rate-key", "worker"];

/** The pauses that cover the caller's work; all of them for operators. */
export function usePauses() {
  return useQuery(async (signal) => (await call(api.GET("/pauses", { signal }))).items, "pauses", EVERY);
}

export function PausesScreen() {
  const live = usePauses();
  const isManager = can("actions:manage", "tenants:manage");
  return (
    <Page title={sayShared("pauses")} aside={isManager && <Begin />}>
      <Shown live={live} lines={3}>
        {(pauses) =>
          pauses.length === 0 ? (
            <Empty title={say("none")}>
              <p>{say("none_why")}</p>
            </Empty>
          ) : (
            <ul class="stack">
              {pauses.map((pause) => (
                <li key={pause.id} class="card">
                  <Description pause={pause} />
                  {isManager && pause.ended_at === null && <End pause={pause} />}
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
    </Page>
  );
}

/** A notice on the overview, if some work is paused. */
export function PausesNotice() {
  const pauses = usePauses().value?.filter((pause) => pause.scope !== "tenant" && pause.ended_at === null);
  if (!pauses?.length) return null;
  return (
    <div class="notice is-cancelled" role="status">
      <p>
        <span aria-hidden="true">❚❚</span> <strong>{say("notice")}</strong>{" "}
        <a href={href("pauses")}>{say("all")}</a>
      </p>
      {pauses.map((pause) => (
        <Description key={pause.id} pause={pause} />
      ))}
    </div>
  );
}

function Description({ pause }: { pause: WorkPause }) {
  return (
    <>
      <p>
        {say(pause.scope)} <strong>{pause.name}</strong>{" "}
        <span class="chip">{pause.tenant ?? say("all_tenants")}</span>
        {pause.skips && <span class="chip is-warned">{say("skips")}</span>}
      </p>
      <p>{say("by", { by: pause.by, reason: pause.reason })}</p>
      <p>
        <small>
          <Times pause={pause} />
        </small>
      </p>
    </>
  );
}

function Times({ pause }: { pause: WorkPause }) {
  if (pause.ended_at !== null && pause.over_at !== null) {
    return (
      <>
        {say("over")} <Time at={pause.over_at} />
      </>
    );
  }
  const [word, at] = pause.probes_at ? (["probe", pause.probes_at] as const) : (["to", pause.until] as const);
  return (
    <>
      {say("since")} <Time at={pause.since} />
      {at && (
        <>
          , {say(word)} <Time at={at} />
        </>
      )}
    </>
  );
}

function Begin() {
  return (
    <Act
      label={say("begin")}
      kind="main"
      ask={{
        title: say("begin_title"),
        go: say("begin_go"),
        fields: ["name", "reason", "until", "spread", "of_tenant"],
        body: (
          <>
            <p>{say("begin_text")}</p>
            <Field label={say("scope")}>
              <select name="scope">
                {[...SCOPES, ...(can("tenants:manage") ? (["tenant"] as Scope[]) : [])].map((scope) => (
                  <option key={scope} value={scope}>
                    {say(scope)}
                  </option>
                ))}
              </select>
            </Field>
            <Field label={say("name")}>
              <input name="name" required maxLength={128} autoComplete="off" />
            </Field>
            <Field label={say("reason")}>
              <input name="reason" required maxLength={200} autoComplete="off" />
            </Field>
            <Field label={say("until")} hint={say("until_hint", { zone: zone.value })}>
              <input name="until" type="datetime-local" />
            </Field>
            <Field label={say("spread")} hint={say("spread_hint")}>
              <input name="spread" type="number" min={0} max={10} step="any" />
            </Field>
            {can("tenants:manage") && (
              <Field label={say("of_tenant")} hint={say("of_tenant_hint")}>
                <input name="of_tenant" maxLength={128} autoComplete="off" />
              </Field>
            )}
            <label class="check">
              <input name="skip" type="checkbox" /> {say("skip")}
            </label>
          </>
        ),
      }}
      run={async (form) => {
        const text = (name: string) => String(form.get(name) ?? "").trim();
        const [until, spread, tenant] = [text("until"), text("spread"), text("of_tenant")];
        const scope = text("scope") as Scope;
        const body = {
          scope,
          name: String(form.get("name") ?? ""),
          reason: String(form.get("reason") ?? ""),
          until: until ? instantOf(until) : null,
          skip: form.get("skip") !== null,
          spread: spread ? Number(spread) * 60 : null,
          of_tenant: scope !== "tenant" && tenant ? tenant : null,
        };
        const begun = await call(api.POST("/pauses", { body }));
        return { text: say("begun", { name: begun.name }), undo: () => end(begun.id) };
      }}
    />
  );
}

function End({ pause }: { pause: WorkPause }) {
  return (
    <Act
      label={say("end")}
      name={say("end_of", { name: pause.name })}
      run={async () => {
        await end(pause.id);
        return { text: say("ended", { name: pause.name }) };
      }}
    />
  );
}

function end(id: string) {
  return call(api.DELETE("/pauses/{pause_id}", { params: { path: { pause_id: id } } }));
}
