// The rate limits of payload types: those in force, and those in code. Operators change them without a deploy.

import { api, call, type Schemas } from "../api";
import { useQuery } from "../query";
import { Time } from "../time";
import { Act, Field } from "../ui/act";
import { Page } from "../ui/page";
import { Empty, Shown } from "../ui/states";
import { say as sayShared } from "../words/shared";
import { say } from "./limits.words";

type Limit = Schemas["LimitView"];
type Rate = Schemas["RateLimitView"];

const EVERY = 10_000;
const PERIODS = { second: 1, minute: 60, hour: 3_600, day: 86_400 } as const;
type Period = keyof typeof PERIODS;

export function LimitsScreen() {
  const live = useQuery(
    async (signal) => (await call(api.GET("/limits", { signal }))).items,
    "limits",
    EVERY,
  );
  return (
    <Page title={sayShared("limits")}>
      <Shown live={live} lines={3}>
        {(limits) =>
          limits.length === 0 ? (
            <Empty title={say("none")}>
              <p>{say("none_why")}</p>
            </Empty>
          ) : (
            <ul class="stack">
              {limits.map((limit) => (
                <li key={limit.name} class="card">
                  <Description limit={limit} />
                  {limit.declared && <Change limit={limit} />}
                  {limit.set_by !== null && <Reset limit={limit} />}
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
    </Page>
  );
}

function Description({ limit }: { limit: Limit }) {
  return (
    <>
      <p>
        <strong>{limit.name}</strong> {limit.scope && <span class="chip">{say(`for_${limit.scope}`)}</span>}
      </p>
      <p>{textOf(limit.limit)}</p>
      {limit.set_by !== null && limit.set_at !== null && (
        <p>
          <small>
            {say("set_by", { by: limit.set_by })} <Time at={limit.set_at} />.{" "}
            {limit.declared ? say("in_code", { limit: textOf(limit.declared) }) : say("not_in_code")}
          </small>
        </p>
      )}
    </>
  );
}

function periodOf({ seconds }: Rate): Period | undefined {
  return (Object.keys(PERIODS) as Period[]).find((period) => PERIODS[period] === seconds);
}

function textOf(rate: Rate): string {
  const period = periodOf(rate);
  const within = period ? say(period) : say("seconds", { n: rate.seconds });
  return say("limit", { count: rate.count, within, burst: rate.burst });
}

function Change({ limit }: { limit: Limit }) {
  const period = periodOf(limit.limit);
  return (
    <Act
      label={say("change")}
      name={say("change_of", { name: limit.name })}
      ask={{
        title: say("change_of", { name: limit.name }),
        go: say("go"),
        fields: ["count", "burst"],
        body: (
          <>
            <p>{say("change_text")}</p>
            <Field label={say("count")}>
              <input name="count" type="number" min={1} required defaultValue={String(limit.limit.count)} />
            </Field>
            <Field label={say("per")}>
              <select name="per" defaultValue={period ?? ""}>
                {!period && <option value="">{say("seconds", { n: limit.limit.seconds })}</option>}
                {(Object.keys(PERIODS) as Period[]).map((each) => (
                  <option key={each} value={each} selected={each === period}>
                    {say(each)}
                  </option>
                ))}
              </select>
            </Field>
            <Field label={say("burst")} hint={say("burst_hint")}>
              <input name="burst" type="number" min={1} />
            </Field>
          </>
        ),
      }}
      run={async (form) => {
        const per = String(form.get("per") ?? "");
        const burst = String(form.get("burst") ?? "");
        const body = {
          count: Number(form.get("count")),
          per: (per || limit.limit.seconds) as Period | number,
          burst: burst ? Number(burst) : null,
        };
        const set = await call(api.PUT("/limits/{name}", { params: { path: { name: limit.name } }, body }));
        return { text: say("changed", { name: set.name, limit: textOf(set.limit) }) };
      }}
    />
  );
}

function Reset({ limit }: { limit: Limit }) {
  return (
    <Act
      label={say("reset")}
      name={say("reset_of", { name: limit.name })}
      run={async () => {
        await call(api.DELETE("/limits/{name}", { params: { path: { name: limit.name } } }));
        return { text: say("was_reset", { name: limit.name }) };
      }}
    />
  );
}
