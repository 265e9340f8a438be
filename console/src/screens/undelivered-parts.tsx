// Parts that the list of undelivered inputs and the screen of one share.

import { api, call, type Schemas } from "../api";
import { kindOfUndelivered } from "../kinds.words";
import { Act } from "../ui/act";
import { linked } from "./notification-facts";
import { say } from "./undelivered.words";

type Summary = Schemas["UndeliveredSummary"];

/** The action it is about; its id is shortened by the style, and in full on its title. */
export function Action({ each }: { each: Summary }) {
  if (!each.action_id) return <span class="muted">–</span>;
  return <span title={each.action_id}>{linked(each.action_id, each.tenant_id ?? undefined)}</span>;
}

export function Redrive({ each, kind = "plain" }: { each: Summary; kind?: "plain" | "main" }) {
  const run = async () => {
    const body = { ids: [each.id], kind: null, limit: 1, dry_run: false };
    await call(api.POST("/undelivered/redrive", { body }));
    return say("requested");
  };
  return (
    <Act
      label={say("redrive")}
      name={say("redrive_name", { kind: kindOfUndelivered(each.kind), source: each.source })}
      kind={kind}
      run={run}
      ask={{
        title: say("redrive_title"),
        go: say("redrive"),
        body: (
          <>
            <p>
              {kindOfUndelivered(each.kind)} · {each.source}
            </p>
            <p>{say(`does_${each.kind}`)}</p>
            <p>{say("soon")}</p>
          </>
        ),
      }}
    />
  );
}
