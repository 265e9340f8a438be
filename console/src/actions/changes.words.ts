import { words } from "../words";

export const say = words("actions/changes", {
  cancelled: "Cancelled: {type} will not run.",
  cancel_requested: "{type} was requested to stop; it stops when its handler looks.",
  rescheduled: "{type} is now due {at}.",
  dismissed: "{type} is dismissed: it is no longer a dead letter.",
  completed: "{type} is executed.",
  failed: "{type} has failed.",
  failed_once: "This attempt of {type} has failed; another follows.",
  approved: "{type} is approved.",
  rejected: "{type} is rejected.",
  redriven: "{type} runs again now, with all its attempts.",
  redriven_at: "{type} runs again {at}, with all its attempts.",
});
