// The versions of a job: who changed what and when, and the way back to one.

import { api, call, type Schemas } from "../../api";
import { canManage } from "../../me";
import { useQuery } from "../../query";
import { Time } from "../../time";
import { Act } from "../../ui/act";
import { Part } from "../../ui/page";
import { Loading, Shown } from "../../ui/states";
import { say as all } from "../../words/shared";
import { Changes, fieldName } from "../job-changes";
import { say } from "../job-editor.words";
import type { Job } from "./accounts";

type Stored = Schemas["StoredDefinitionView"];

export function Definitions({ job, etag }: { job: Job; etag: string | null }) {
  const path = { name: job.name };
  const live = useQuery(
    (signal) => call(api.GET("/jobs/{name}/definitions", { params: { path }, signal })),
    `definitions ${job.name} ${etag}`,
    60_000,
  );
  const mayChange = job.enabled && job.origin === "runtime" && canManage("jobs:manage", job.tenant_id);
  return (
    <Part title={say("versions")}>
      {job.origin === "code" && <p class="muted">{say("code")}</p>}
      <Shown live={live} lines={2}>
        {({ items }) => (
          <div class="scrolls">
            <table class="folds job-table">
              <thead>
                <tr>
                  <th scope="col">{say("version")}</th>
                  <th scope="col">{all("when")}</th>
                  <th scope="col">{say("who")}</th>
                  <th scope="col">{say("changes")}</th>
                  {mayChange && (
                    <th scope="col">
                      <span class="hidden">{say("roll_back")}</span>
                    </th>
                  )}
                </tr>
              </thead>
              <tbody>
                {items.map((stored) => (
                  <Row key={stored.id} stored={stored} job={job} etag={etag} mayChange={mayChange} />
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Shown>
    </Part>
  );
}

interface RowProps {
  stored: Stored;
  job: Job;
  etag: string | null;
  mayChange: boolean;
}

function Row({ stored, job, etag, mayChange }: RowProps) {
  return (
    <tr>
      <td data-label={say("version")}>
        <span>
          {stored.id} {stored.until === null && <span class="chip">{say("current")}</span>}
        </span>
      </td>
      <td data-label={all("when")}>
        <Time at={stored.since} />
      </td>
      <td data-label={say("who")}>{stored.by ?? (job.origin === "code" ? say("by_deploy") : "–")}</td>
      <td data-label={say("changes")}>
        {stored.changes.length === 0 ? (
          say("first")
        ) : (
          <details>
            <summary>{stored.changes.map((change) => fieldName(change.field)).join(", ")}</summary>
            <Changes changes={stored.changes} />
          </details>
        )}
      </td>
      {mayChange && (
        <td class="row-act">{stored.until !== null && <RollBack stored={stored} job={job} etag={etag} />}</td>
      )}
    </tr>
  );
}

function RollBack({ stored, job, etag }: Omit<RowProps, "mayChange">) {
  const { id } = stored;
  return (
    <Act
      label={say("roll_back")}
      name={say("roll_back_of", { id })}
      ask={{
        title: say("roll_back_ask", { id }),
        body: <Compared job={job} id={id} />,
        go: say("roll_back"),
      }}
      run={async () => {
        const header = etag ? { "If-Match": etag } : {};
        const params = { path: { name: job.name }, header };
        await call(api.POST("/jobs/{name}/roll-back", { params, body: { definition: id } }));
        return say("rolled_back", { name: job.name, id });
      }}
    />
  );
}

/** What the roll-back changes of the definition in force. */
function Compared({ job, id }: { job: Job; id: string }) {
  const path = { name: job.name, definition_id: id };
  const query = { against: String(job.version) };
  const live = useQuery(
    (signal) =>
      call(api.GET("/jobs/{name}/definitions/{definition_id}", { params: { path, query }, signal })),
    `definition ${job.name} ${id} ${job.version}`,
    Number.POSITIVE_INFINITY,
    { isKept: false },
  );
  return (
    <>
      <p>{say("roll_back_what")}</p>
      {live.value ? (
        live.value.changes.length > 0 ? (
          <Changes changes={live.value.changes} />
        ) : (
          <p>{say("same")}</p>
        )
      ) : (
        <Loading lines={2} />
      )}
    </>
  );
}
