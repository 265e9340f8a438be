// What may be done to one action, as it stands.

import { canManage } from "../me";
import { Act } from "../ui/act";
import { FormDialog } from "../ui/dialog";
import { ApprovalButtons } from "./approval";
import { say } from "./buttons.words";
import { cancelAction, redrive, reschedule, type Seen } from "./changes";
import { DismissButton } from "./dismiss";
import { EndHandOverButtons } from "./hand-over";
import { WHEN_FIELDS, WhenFields, whenOf } from "./when-fields";

export function ActionButtons({ seen }: { seen: Seen }) {
  return (
    <>
      <ManageButtons seen={seen} />
      <ApprovalButtons seen={seen} />
    </>
  );
}

function ManageButtons({ seen }: { seen: Seen }) {
  const { action } = seen;
  if (!canManage("actions:manage", action.tenant_id)) return null;
  if (action.status === "failed") {
    return (
      <>
        {action.dismissed_reason === null && <DismissButton action={action} etag={seen.etag} />}
        <RedriveButton seen={seen} />
      </>
    );
  }
  if (action.status === "pending") {
    return (
      <>
        <RescheduleButton seen={seen} />
        <CancelButton seen={seen} />
      </>
    );
  }
  if (action.status === "processing") {
    return (
      <>
        {!action.cancel_requested_at && <CancelButton seen={seen} />}
        {action.is_handed_over && !action.awaits_approval && <EndHandOverButtons seen={seen} />}
      </>
    );
  }
  return null;
}

function CancelButton({ seen: { action, etag } }: { seen: Seen }) {
  const kind = action.status === "processing" ? "stop" : "cancel";
  return (
    <Act
      label={say(kind)}
      kind="danger"
      ask={{ title: say(`${kind}_title`), body: <p>{say(`${kind}_body`)}</p>, go: say(`${kind}_go`) }}
      run={() => cancelAction(action.id, etag)}
    />
  );
}

function RescheduleButton({ seen }: { seen: Seen }) {
  return (
    <FormDialog
      label={say("reschedule")}
      title={say("reschedule_title")}
      go={say("reschedule_go")}
      over={seen}
      run={(form, over) => reschedule(over, whenOf(form))}
      fields={WHEN_FIELDS}
    >
      {(flaws, over) => <WhenFields flaws={flaws} ways={["at", "in"]} at={over.action.due_at} />}
    </FormDialog>
  );
}

function RedriveButton({ seen }: { seen: Seen }) {
  return (
    <FormDialog
      label={say("redrive")}
      title={say("redrive_title")}
      go={say("redrive_go")}
      kind="main"
      over={seen}
      run={(form, over) => redrive(over.action.id, over.action.type, whenOf(form), over.etag)}
      fields={WHEN_FIELDS}
    >
      {(flaws) => (
        <>
          <p>{say("redrive_body")}</p>
          <WhenFields flaws={flaws} ways={["now", "in", "at"]} />
        </>
      )}
    </FormDialog>
  );
}
