import { words } from "../words";

export const say = words("actions/buttons", {
  cancel: "Cancel it…",
  cancel_title: "Cancel this action?",
  cancel_body: "It will not run, and that cannot be undone: to have it done after all, schedule another.",
  cancel_go: "Cancel it",
  stop: "Request it to stop…",
  stop_title: "Request this action to stop?",
  stop_body:
    "The action is running. Its handler receives the request within seconds. If it checks " +
    "for it, it stops; otherwise it runs to its end. There is no retry. This cannot be " +
    "undone.",
  stop_go: "Request it to stop",
  reschedule: "Reschedule…",
  reschedule_title: "Give it another due time",
  reschedule_go: "Reschedule it",
  redrive: "Redrive…",
  redrive_title: "Run it again",
  redrive_body: "It runs again with all its attempts. The attempts before stay in its history.",
  redrive_go: "Run it again",
});
