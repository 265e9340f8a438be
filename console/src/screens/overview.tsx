// How all of it stands: whether it is on time, what runs and what failed, what comes, and what happened last.

import type { QueryResult } from "../query";
import { can } from "../me";
import { Page } from "../ui/page";
import { say } from "../words/shared";
import { type Job, useJobCounts, useLatestJobs } from "./jobs.data";
import { Cards } from "./overview.cards";
import { Coming } from "./overview.coming";
import { type Action, type Summary, useFailedToday, useHealth, useRecent, useSummary } from "./overview.data";
import { LastHour } from "./overview.hour";
import { TenantPause } from "./overview.pause";
import { PausesNotice } from "./pauses";
import { Standing } from "./overview.standing";

export function OverviewScreen() {
  const counts = useJobCounts();
  const jobs = useLatestJobs();
  const health = useHealth();
  const failed = useFailedToday();
  const summary = useSummary();
  const isBegun = counts.value !== undefined || counts.problem !== undefined;
  return (
    <Page title={say("overview")}>
      <TenantPause pause={summary.value?.paused} />
      {can("actions:read") && <PausesNotice />}
      <Standing health={health} />
      {can("jobs:read", "actions:read", "system") && <Cards jobs={counts} health={health} failed={failed} />}
      {can("jobs:read", "actions:read") && <Coming />}
      {isBegun && can("jobs:read", "actions:read") && (
        <Lately jobs={jobs} summary={summary} failed={failed.value?.items ?? []} />
      )}
    </Page>
  );
}

/** The past hour; it is loaded last, since the runs of jobs take the longest. */
function Lately({
  jobs,
  summary,
  failed,
}: {
  jobs: QueryResult<Job[]>;
  summary: QueryResult<Summary | null>;
  failed: Action[];
}) {
  return <LastHour jobs={jobs} recent={useRecent()} summary={summary} failed={failed} />;
}
