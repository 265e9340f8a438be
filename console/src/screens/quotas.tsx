// A tenant's quotas, and what it uses of them: one's own, and for managers of tenants those of any tenant.

import { api, call, type Schemas } from "../api";
import { can, me } from "../me";
import { useQuery } from "../query";
import { go, href, place } from "../route";
import { Field, Typed } from "../ui/act";
import { Page, Part } from "../ui/page";
import { Empty, Shown } from "../ui/states";
import { locale, number } from "../words";
import { say } from "./quotas.words";

type Quotas = Schemas["QuotaList"];
type Quota = Schemas["QuotaView"];

const EVERY = 30_000;
const NEARLY = 0.8;

function load(tenant: string, signal: AbortSignal): Promise<Quotas> {
  return call(api.GET("/quotas", { params: { query: { of_tenant: tenant } }, signal }));
}

export function QuotasScreen() {
  const isManager = can("tenants:manage");
  const tenant = (isManager && place.value.query.get("tenant")) || me.value.tenant_id;
  const live = useQuery((signal) => load(tenant, signal), `quotas ${tenant}`, EVERY);
  return (
    <Page title={say("title")}>
      {isManager && (
        <search class="filters">
          <Field label={say("tenant")}>
            <Typed
              text={tenant}
              choose={(text) => go(href("quotas", { tenant: text.trim() }), { replace: true })}
            />
          </Field>
        </search>
      )}
      <Shown live={live} lines={6}>
        {({ tenant_id, items }) =>
          items.length === 0 ? (
            <Empty title={say("none")}>
              <p>{say("none_why")}</p>
            </Empty>
          ) : (
            <Part title={say("of", { tenant: tenant_id })}>
              <Table quotas={items} />
            </Part>
          )
        }
      </Shown>
    </Page>
  );
}

function Table({ quotas }: { quotas: Quota[] }) {
  return (
    <table class="folds">
      <thead>
        <tr>
          <th scope="col">{say("quota")}</th>
          <th scope="col">{say("used")}</th>
          <th scope="col">{say("limit")}</th>
          <th scope="col">{say("share")}</th>
        </tr>
      </thead>
      <tbody>
        {quotas.map((quota) => (
          <tr key={quota.name}>
            <td data-label={say("quota")}>{say(quota.name)}</td>
            <td data-label={say("used")}>
              {quota.used === null ? <span class="muted">{say("not_counted")}</span> : number(quota.used)}
            </td>
            <td data-label={say("limit")}>{number(quota.limit)}</td>
            <td data-label={say("share")}>
              {quota.used === null ? "–" : <Share {...quota} used={quota.used} />}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Share({ name, used, limit }: Quota & { used: number }) {
  const share = limit === 0 ? 1 : used / limit;
  const written = new Intl.NumberFormat(locale.value, { style: "percent" }).format(share);
  return (
    <span>
      <meter
        min={0}
        max={1}
        high={NEARLY}
        optimum={0}
        value={Math.min(share, 1)}
        aria-label={say("share_of", { name: say(name), share: written })}
      />{" "}
      {written}
    </span>
  );
}
