// One job: what it is, what became of each of its times, what comes, its runs, and what operators set.

import { api, call } from "../api";
import { type QueryResult, useQuery } from "../query";
import { can } from "../me";
import { href } from "../route";
import { Page } from "../ui/page";
import { Shown } from "../ui/states";
import { say as all } from "../words/shared";
import type { Job } from "./job/accounts";
import { About, Cadences } from "./job/about";
import { Acts } from "./job/acts";
import { Audit } from "./job/audit";
import { Backfills } from "./job/backfills";
import { Calendar } from "./job/calendar";
import { Definitions } from "./job/definitions";
import { Gone } from "./job/gone";
import { Glance, Notices } from "./job/head";
import { History } from "./job/history";
import { Settings } from "./job/settings";
import { Upcoming } from "./job/upcoming";

interface Seen {
  job: Job;
  /** What stands for it as it is now, for changes of what was seen. */
  etag: string | null;
}

async function load(name: string, signal: AbortSignal): Promise<Seen> {
  const request = api.GET("/jobs/{name}", { params: { path: { name } }, signal });
  const job = await call(request);
  return { job, etag: (await request).response.headers.get("ETag") };
}

export function JobScreen({ name }: { name: string }) {
  const live = useQuery((signal) => load(name, signal), `job ${name}`);
  const job = live.value?.job;
  return (
    <Page
      title={job?.title || name}
      above={<a href={href("jobs")}>{all("jobs")}</a>}
      aside={job && <Acts job={job} />}
    >
      {live.problem?.isMissing ? <Gone name={name} /> : <Standing live={live} />}
    </Page>
  );
}

function Standing({ live }: { live: QueryResult<Seen> }) {
  return (
    <Shown live={live} lines={8}>
      {({ job, etag }) => (
        <>
          {(job.description || job.title) && (
            <p class="job-what">
              {job.title && <code>{job.name}</code>} {job.description}
            </p>
          )}
          <Notices job={job} />
          <Glance job={job} />
          <div class="columns">
            <div class="job-side">
              <Cadences job={job} />
              <About job={job} />
            </div>
            <Upcoming job={job} />
          </div>
          <Calendar job={job} key={job.version} />
          <Backfills job={job} />
          <History name={job.name} />
          <Settings job={job} etag={etag} />
          <Definitions job={job} etag={etag} />
          {can("audit:read") && <Audit name={job.name} />}
        </>
      )}
    </Shown>
  );
}
