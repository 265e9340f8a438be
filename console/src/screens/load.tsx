// The load of the next seven days: how many jobs begin in a minute, against what a worker handles at once.

import { api, call, type Schemas } from "../api";
import { Peaks } from "../charts/peaks";
import { useQuery } from "../query";
import { go, href, place } from "../route";
import { Time, written } from "../time";
import { Field, Typed } from "../ui/act";
import { Page, Part } from "../ui/page";
import { Empty, Shown } from "../ui/states";
import { number } from "../words";
import { say as shared } from "../words/shared";
import { say } from "./load.words";

type Load = Schemas["LoadForecastView"];
type Crowd = Schemas["CrowdView"];

const EVERY = 300_000;
const HIGHEST = 10_000;
const NAMES = 8;

export function LoadScreen() {
  const given = Number(place.value.query.get("capacity"));
  const capacity = Number.isInteger(given) && given >= 1 && given <= HIGHEST ? given : undefined;
  const live = useQuery(
    (signal) => call(api.GET("/jobs/load", { params: { query: { capacity } }, signal })),
    `load ${capacity ?? ""}`,
    EVERY,
  );
  return (
    <Page title={say("title")} above={<a href={href("jobs")}>{shared("jobs")}</a>}>
      <p>
        {say("intro")} {say("aside")}
      </p>
      <Shown live={live} lines={8}>
        {(load) => <Forecast load={load} />}
      </Shown>
    </Page>
  );
}

function Forecast({ load }: { load: Load }) {
  const most = load.hours.reduce((found, { peak }) => Math.max(found, peak), 0);
  return (
    <>
      <search class="filters">
        <Field label={say("capacity")} hint={say("capacity_hint")}>
          <Typed
            range={[1, HIGHEST]}
            text={String(load.capacity)}
            choose={(capacity) => go(href("load", { capacity }), { replace: true })}
          />
        </Field>
      </search>
      <dl class="card head-facts">
        <div>
          <dt>{say("jobs")}</dt>
          <dd>
            {number(load.jobs)} ({say(load.is_complete ? "all" : "part")})
          </dd>
        </div>
        <div>
          <dt>{say("minutes_over")}</dt>
          <dd>{number(load.minutes_over)}</dd>
        </div>
      </dl>
      <Part title={say("chart")}>
        <Peaks
          from={Date.parse(load.requested_at)}
          until={Date.parse(load.until)}
          peaks={load.hours}
          limit={load.capacity}
          label={say("gist", { n: load.hours.length, most, limit: load.capacity })}
          limitLabel={say("limit", { n: load.capacity })}
          textOf={({ peak_at, peak }) => say("bar", { n: peak, at: written(peak_at, "short") })}
        />
      </Part>
      <Part title={say("crowds")}>
        {load.crowds.length === 0 ? <Empty title={say("none")} /> : <Crowds crowds={load.crowds} />}
        {load.minutes_over > 0 && <p class="muted">{say("remedy")}</p>}
      </Part>
    </>
  );
}

function Crowds({ crowds }: { crowds: Crowd[] }) {
  return (
    <table class="folds">
      <thead>
        <tr>
          <th scope="col">{say("at")}</th>
          <th scope="col">{say("begin")}</th>
          <th scope="col">{say("over")}</th>
          <th scope="col">{say("times")}</th>
          <th scope="col">{say("names")}</th>
        </tr>
      </thead>
      <tbody>
        {crowds.map((crowd) => (
          <tr key={`${crowd.at} ${crowd.jobs.join(" ")}`}>
            <td data-label={say("at")} class="nowrap">
              <Time at={crowd.at} />
            </td>
            <td data-label={say("begin")}>{number(crowd.begin)}</td>
            <td data-label={say("over")}>
              {crowd.over > 0 ? <span class="chip is-warned">{number(crowd.over)}</span> : "–"}
            </td>
            <td data-label={say("times")}>{number(crowd.times)}</td>
            <td data-label={say("names")}>
              <span>
                {crowd.jobs.slice(0, NAMES).map((name, place) => (
                  <>
                    {place > 0 && ", "}
                    <a href={href("jobs", name)} key={name}>
                      {name}
                    </a>
                  </>
                ))}
                {crowd.begin > NAMES && ` ${say("others", { n: crowd.begin - NAMES })}`}
              </span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
