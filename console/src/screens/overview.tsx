// How all of it stands: whether it is on time, what runs and what failed, what comes, and what happened last.

import { can } from "../me";
import { Page } from "../ui/page";
import { say } from "../words/shared";
import { useJobs } from "./jobs.data";
import { Cards } from "./overview.cards";
import { Coming } from "./overview.coming";
import { useFailedToday, useHealth, useRecent } from "./overview.data";
import { LastHour } from "./overview.hour";
import { Standing } from "./overview.standing";

export function OverviewScreen() {
  const jobs = useJobs();
  const health = useHealth();
  const recent = useRecent();
  const failed = useFailedToday().value;
  return (
    <Page title={say("overview")}>
      <Standing health={health} />
      {can("jobs:read", "actions:read", "system") && <Cards jobs={jobs} health={health} failed={failed} />}
      {can("jobs:read", "actions:read") && <Coming />}
      {can("jobs:read", "actions:read") && (
        <LastHour jobs={jobs} recent={recent} failed={failed?.items ?? []} />
      )}
    </Page>
  );
}
