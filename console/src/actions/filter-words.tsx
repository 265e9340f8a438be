// The filters of a bulk action in words.

import { written, zone } from "../time";
import { status as sayStatus } from "../words/shared";
import { type Filters, isAny, TEXTS, TIMES } from "./filters";
import { say } from "./filters.words";

export function FilterWords({ filters, error }: { filters: Filters; error?: string }) {
  if (!isAny(filters) && error === undefined) return <p>{say("meant_all")}</p>;
  const lines: [string, string][] = [];
  for (const name of TEXTS) lines.push([say(name), filters[name] ?? ""]);
  lines.push([say("status"), (filters.status ?? []).map((status) => sayStatus(status)).join(", ")]);
  for (const name of TIMES) {
    const at = filters[name];
    lines.push([say(name), at ? `${written(at)} (${zone.value})` : ""]);
  }
  lines.push([say("error"), error ?? ""]);
  return (
    <>
      <p>{say("meant")}</p>
      <dl class="facts filter-words">
        {lines
          .filter(([, value]) => value)
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <bdi>{value}</bdi>
              </dd>
            </div>
          ))}
      </dl>
    </>
  );
}
