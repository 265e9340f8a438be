// Dismissing a dead letter: it stays failed, and leaves the list of what waits for an operator.

import { Act } from "../ui/act";
import { Flawed, Unusable } from "../ui/dialog";
import { type ActionView, dismiss } from "./changes";
import { say } from "./dismiss.words";

const LONGEST = 500;
const FIELD = "reason";

interface DismissButtonProps {
  action: Pick<ActionView, "id" | "type">;
  /** The version that was shown. */
  etag?: string;
  /** The label for screen readers, in a list. */
  name?: string;
}

export function DismissButton({ action, etag, name }: DismissButtonProps) {
  const run = (form: FormData) => {
    const reason = String(form.get(FIELD) ?? "").trim();
    if (!reason) throw new Unusable({ [FIELD]: say("reason_missing") });
    return dismiss(action.id, action.type, reason, etag);
  };
  return (
    <Act
      label={say("dismiss")}
      name={name}
      ask={{
        title: say("title"),
        body: (flaws) => (
          <>
            <p>{say("body")}</p>
            <Flawed label={say("reason")} hint={say("reason_hint")} flaw={flaws[FIELD]}>
              <input name={FIELD} maxLength={LONGEST} autoComplete="off" />
            </Flawed>
          </>
        ),
        go: say("go"),
        fields: [FIELD],
      }}
      run={async (form) => run(form)}
    />
  );
}
