// A hand-over: what an action waits for, and how people end it in place of the party that has the token.

import { FormDialog, Flawed, Unusable } from "../ui/dialog";
import { readJson } from "../json";
import { Time } from "../time";
import { number } from "../words";
import { type ActionView, completeAction, failAction, type Seen } from "./changes";
import { say } from "./hand-over.words";

const LONGEST = 500;

/** Until when it waits, and when its party was last heard. */
export function HandOverFact({ action }: { action: ActionView }) {
  return (
    <>
      {action.times_out_at && <Time at={action.times_out_at} />}
      {action.handed_over_at && (
        <small class="is-moved">
          {say("since")} <Time at={action.handed_over_at} />
        </small>
      )}
      {action.heartbeat_at && (
        <small class="is-moved">
          {say("heartbeat")} <Time at={action.heartbeat_at} as="away" />
        </small>
      )}
    </>
  );
}

/** The share that was reported last, with its note. */
export function ProgressFact({ action: { progress, progress_note: note } }: { action: ActionView }) {
  if (progress === null) return null;
  return (
    <>
      <progress max={1} value={progress} aria-label={say("progress")} /> {number(Math.round(100 * progress))}{" "}
      %{note && <small class="is-moved">{note}</small>}
    </>
  );
}

/** Complete and fail; see `ActionButtons`. */
export function EndHandOverButtons({ seen }: { seen: Seen }) {
  return (
    <>
      <FailButton seen={seen} />
      <CompleteButton seen={seen} />
    </>
  );
}

function CompleteButton({ seen }: { seen: Seen }) {
  return (
    <FormDialog
      label={say("complete")}
      title={say("complete_title")}
      go={say("complete_go")}
      kind="main"
      over={seen}
      fields={["result"]}
      run={async (form, over) => completeAction(over, resultOf(form))}
    >
      {(flaws) => (
        <>
          <p>{say("complete_body")}</p>
          <Flawed label={say("result")} hint={say("result_hint")} flaw={flaws.result}>
            <textarea name="result" dir="auto" rows={3} class="mono" spellcheck={false} />
          </Flawed>
        </>
      )}
    </FormDialog>
  );
}

function resultOf(form: FormData): unknown {
  const text = String(form.get("result") ?? "").trim();
  try {
    return text ? readJson(text) : null;
  } catch (error) {
    throw new Unusable({ result: say("no_json", { why: (error as Error).message }) });
  }
}

function FailButton({ seen }: { seen: Seen }) {
  return (
    <FormDialog
      label={say("fail")}
      title={say("fail_title")}
      go={say("fail_go")}
      kind="danger"
      over={seen}
      fields={["reason"]}
      run={async (form, over) => {
        const reason = String(form.get("reason") ?? "").trim();
        if (!reason) throw new Unusable({ reason: say("reason_missing") });
        return failAction(over, reason, form.get("retry") !== null);
      }}
    >
      {(flaws) => (
        <>
          <p>{say("fail_body")}</p>
          <Flawed label={say("reason")} flaw={flaws.reason}>
            <input name="reason" maxLength={LONGEST} autoComplete="off" />
          </Flawed>
          <label class="check">
            <input name="retry" type="checkbox" defaultChecked /> {say("retry")}
          </label>
        </>
      )}
    </FormDialog>
  );
}
