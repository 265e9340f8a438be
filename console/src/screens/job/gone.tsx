// A job that is not there any more: a registration that was removed leaves its runs, and the trail of its
// changes.

import { api, call } from "../../api";
import { useQuery } from "../../query";
import { can } from "../../me";
import { Empty, Shown } from "../../ui/states";
import { Audit } from "./audit";
import { History } from "./history";
import { say } from "./upcoming.words";

export function Gone({ name }: { name: string }) {
  const live = useQuery(
    (signal) =>
      call(
        api.GET("/jobs/{name}/runs", {
          params: { path: { name }, query: { limit: 1 } },
          signal,
        }),
      ),
    `gone ${name}`,
    Number.POSITIVE_INFINITY,
  );
  return (
    <Shown live={live}>
      {() => (
        <>
          <Empty title={say("gone")}>
            <p>{say("gone_why")}</p>
          </Empty>
          <History name={name} />
          {can("audit:read") && <Audit name={name} />}
        </>
      )}
    </Shown>
  );
}
