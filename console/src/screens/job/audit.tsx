// Who changed the job over the API, when, from where, and what came of it.

import { useState } from "preact/hooks";
import { api, call, type Schemas } from "../../api";
import { writeJson } from "../../json";
import { useQuery } from "../../query";
import { Time } from "../../time";
import { Part } from "../../ui/page";
import { Empty, Shown } from "../../ui/states";
import { say as all } from "../../words/shared";
import { operation, say } from "./audit.words";

type Entry = Schemas["AuditEntryView"];

const LIMIT = 10;
const MOST = 100;

export function Audit({ name }: { name: string }) {
  const [limit, setLimit] = useState(LIMIT);
  const live = useQuery(
    (signal) => call(api.GET("/audit", { params: { query: { job: name, limit } }, signal })),
    `audit ${name} ${limit}`,
    30_000,
  );
  return (
    <Part title={say("title")}>
      <Shown live={live} lines={2}>
        {({ items, next_cursor: next }) =>
          items.length === 0 ? (
            <Empty title={say("none")}>
              <p>{say("none_why")}</p>
            </Empty>
          ) : (
            <>
              <Entries items={items} />
              {next && limit < MOST && (
                <div class="pager">
                  <button type="button" onClick={() => setLimit(MOST)}>
                    {all("more")}
                  </button>
                </div>
              )}
            </>
          )
        }
      </Shown>
    </Part>
  );
}

function Entries({ items }: { items: Entry[] }) {
  return (
    <div class="scrolls">
      <table class="folds job-table">
        <thead>
          <tr>
            <th scope="col">{all("when")}</th>
            <th scope="col">{say("who")}</th>
            <th scope="col">{say("what")}</th>
            <th scope="col">{say("from")}</th>
            <th scope="col">{say("result")}</th>
          </tr>
        </thead>
        <tbody>
          {items.map((each) => (
            <tr key={each.id}>
              <td data-label={all("when")}>
                <Time at={each.requested_at} />
              </td>
              <td data-label={say("who")}>
                <span>
                  {each.by}
                  {each.subject && each.subject !== each.by && (
                    <small class="note">
                      <code>{each.subject}</code>
                    </small>
                  )}
                  <small class="note">{each.roles.join(", ")}</small>
                </span>
              </td>
              <td data-label={say("what")}>
                <span>
                  {operation(each.operation)}
                  {Object.keys(each.request_fields).length > 0 && (
                    <small class="note">
                      <code>{inLine(each.request_fields)}</code>
                    </small>
                  )}
                </span>
              </td>
              <td data-label={say("from")}>{each.address ?? "–"}</td>
              <td data-label={say("result")}>
                <Result each={each} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Result({ each }: { each: Entry }) {
  if (each.status === null) return <span class="badge is-cancelled">? {say("unknown")}</span>;
  if (each.status < 400) return <span class="badge is-executed">✓ {say("done")}</span>;
  const detail = (each.result as { detail?: unknown } | null)?.detail;
  return (
    <span>
      <span class="badge is-failed">✕ {say("refused", { status: String(each.status) })}</span>
      {typeof detail === "string" && (
        <small class="note" lang="en">
          {detail}
        </small>
      )}
    </span>
  );
}

/** What was asked for, as one reads it in a line: reason: "…", until: "…". */
function inLine(of: Record<string, unknown>): string {
  return Object.entries(of)
    .filter(([, value]) => value !== null && value !== "")
    .map(([name, value]) => `${name}: ${writeJson(value)}`)
    .join(", ");
}
