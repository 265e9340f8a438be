// The decision about an action that waits for an approval: both need a permission of their own.

import { canManage } from "../me";
import { Act } from "../ui/act";
import { Flawed, Unusable } from "../ui/dialog";
import { decide, type Seen } from "./changes";
import { say } from "./approval.words";

const LONGEST = 500;
const FIELD = "reason";

export function ApprovalButtons({ seen }: { seen: Seen }) {
  const { action } = seen;
  if (!action.awaits_approval || !canManage("actions:approve", action.tenant_id)) return null;
  return (
    <>
      <DecisionButton seen={seen} verb="reject" />
      <DecisionButton seen={seen} verb="approve" />
    </>
  );
}

function DecisionButton({ seen: { action, etag }, verb }: { seen: Seen; verb: "approve" | "reject" }) {
  const run = (form: FormData) => {
    const reason = String(form.get(FIELD) ?? "").trim();
    if (!reason && verb === "reject") throw new Unusable({ [FIELD]: say("reason_missing") });
    return decide(action.id, action.type, verb, reason, etag);
  };
  return (
    <Act
      label={say(verb)}
      kind={verb === "approve" ? "main" : "danger"}
      ask={{
        title: say(`${verb}_title`),
        body: (flaws) => (
          <>
            <p>
              <bdi>{action.question}</bdi>
            </p>
            <Flawed label={say("reason")} hint={say(`${verb}_hint`)} flaw={flaws[FIELD]}>
              <input name={FIELD} maxLength={LONGEST} autoComplete="off" />
            </Flawed>
          </>
        ),
        go: say(`${verb}_go`),
        fields: [FIELD],
      }}
      run={async (form) => run(form)}
    />
  );
}
