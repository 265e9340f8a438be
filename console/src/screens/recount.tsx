// The last recount of all nominal times: its counts, and what it found. Operators only.

import { api, call, type Schemas } from "../api";
import { useQuery } from "../query";
import { href } from "../route";
import { Time } from "../time";
import { Page, Part } from "../ui/page";
import { Empty, Shown } from "../ui/states";
import { number } from "../words";
import { say as shared } from "../words/shared";
import { say } from "./recount.words";

type Report = Schemas["RecountView"];
type Finding = Schemas["FindingView"];
type Counts = Schemas["AccountsView"];

const EVERY = 60_000;
const RESULTS = ["executed", "failed", "cancelled", "skipped", "missed", "open"] as const;

export function RecountScreen() {
  const live = useQuery((signal) => call(api.GET("/recount", { signal })), "recount", EVERY);
  return (
    <Page title={shared("recount")}>
      <Shown live={live} lines={3}>
        {({ last, begun_at }) => (
          <>
            <p class="muted">{say("intro")}</p>
            {begun_at !== null && (
              <p>
                {say("begun")} <Time at={begun_at} />
              </p>
            )}
            {last === null ? (
              <Empty title={say("none_yet")}>
                <p>
                  {say("none_yet_why")} <a href={href("jobs", "duetime-recount")}>duetime-recount</a>
                </p>
              </Empty>
            ) : (
              <Last report={last} />
            )}
          </>
        )}
      </Shown>
    </Page>
  );
}

function Last({ report }: { report: Report }) {
  return (
    <>
      <dl class="card head-facts">
        <div>
          <dt>{say("ended")}</dt>
          <dd>
            <Time at={report.ended_at} />
          </dd>
        </div>
        <div>
          <dt>{say("window")}</dt>
          <dd>
            <Time at={report.since} /> – <Time at={report.until} />
          </dd>
        </div>
        <div>
          <dt>{shared("jobs")}</dt>
          <dd>
            {number(report.jobs)}
            {report.left_out > 0 && ` (${say("left_out", { n: report.left_out })})`}
          </dd>
        </div>
        <div>
          <dt>{say("times")}</dt>
          <dd>{textOf(report.times)}</dd>
        </div>
        <div>
          <dt>{say("one_shots")}</dt>
          <dd>{textOf(report.one_shots)}</dd>
        </div>
        {report.unread.length > 0 && (
          <div>
            <dt>{say("unread")}</dt>
            <dd>{report.unread.join(", ")}</dd>
          </div>
        )}
      </dl>
      {report.found === 0 ? (
        <Empty title={say("nothing")}>
          <p>{say("nothing_why")}</p>
        </Empty>
      ) : (
        <Part title={say("found", { n: report.found })}>
          {report.found > report.findings.length && (
            <p class="muted">{say("first_of", { n: report.findings.length })}</p>
          )}
          <Findings findings={report.findings} />
        </Part>
      )}
    </>
  );
}

function textOf(counts: Counts): string {
  const shown = RESULTS.filter((result) => counts[result] > 0);
  return shown.map((result) => `${number(counts[result])} ${say(result)}`).join(", ") || shared("none");
}

function Findings({ findings }: { findings: Finding[] }) {
  return (
    <table class="folds">
      <thead>
        <tr>
          <th scope="col">{say("of")}</th>
          <th scope="col">{say("at")}</th>
          <th scope="col">{say("problem")}</th>
        </tr>
      </thead>
      <tbody>
        {findings.map((found) => (
          <tr key={`${found.tenant_id} ${found.job} ${found.version} ${found.action_id} ${found.at}`}>
            <td data-label={say("of")}>
              <span>
                <Subject found={found} /> <small>{say("of_tenant", { tenant: found.tenant_id })}</small>
              </span>
            </td>
            <td data-label={say("at")} class="nowrap">
              <Time at={found.at} />
            </td>
            <td data-label={say("problem")}>{say(found.problem)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Subject({ found }: { found: Finding }) {
  if (found.job) return <a href={href("jobs", found.job)}>{found.job}</a>;
  return <a href={href("actions", found.action_id ?? "")}>{found.action_id}</a>;
}
