// What else belongs to an action: others of its correlation id, and the runs of its job before it.

import { useQuery } from "../query";
import { href } from "../route";
import { Part } from "../ui/page";
import { Empty, Shown } from "../ui/states";
import { StatusBadge } from "../ui/status";
import { statusOf } from "../words/shared";
import type { ActionView } from "./changes";
import { type Action, listActions } from "./lists";
import { say } from "./related.words";
import { ActionLink, DueCell } from "./shown";

const MOST = 10;
const SLOWLY = 30_000;

export function OfCorrelation({ action, id }: { action: ActionView; id: string }) {
  const live = useQuery(
    async (signal) => (await listActions({ correlation_id: id }, undefined, signal, MOST + 1)).items,
    `correlation ${id}`,
    SLOWLY,
  );
  return (
    <Part
      title={say("same_id")}
      aside={<a href={href("actions", { correlation_id: id })}>{say("all_of_id")}</a>}
    >
      <Shown live={live} lines={2}>
        {(all) => <Others actions={all.filter((each) => each.id !== action.id).slice(0, MOST)} />}
      </Shown>
    </Part>
  );
}

export function OfJob({ action, job }: { action: ActionView; job: string }) {
  const live = useQuery(
    async (signal) => {
      const before = await listActions({ job, due_until: action.nominal_at }, undefined, signal);
      return before.items;
    },
    `runs ${action.id}`,
    Number.POSITIVE_INFINITY,
  );
  return (
    <Part title={say("before")} aside={<a href={href("jobs", job)}>{say("the_job")}</a>}>
      <Shown live={live} lines={2}>
        {(runs) => <Others actions={runs.filter((each) => each.id !== action.id).slice(0, MOST / 2)} />}
      </Shown>
    </Part>
  );
}

function Others({ actions }: { actions: Action[] }) {
  if (actions.length === 0) return <Empty title={say("none")} />;
  return (
    <ul class="others">
      {actions.map((each) => (
        <li key={each.id}>
          <StatusBadge status={statusOf(each)} />
          <div>
            <div>{each.type}</div>
            <ActionLink id={each.id} />
          </div>
          <div class="others-due">
            <DueCell action={each} />
          </div>
        </li>
      ))}
    </ul>
  );
}
