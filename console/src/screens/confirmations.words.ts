import { words } from "../words";

export const say = words("screens/confirmations", {
  none: "Nothing waits for a second person",
  none_why: "A deployment may require that another person confirms what cannot be undone.",
  cancelActions: "Cancel all actions that match these filters",
  cancelBatch: "Cancel a batch",
  cancelBackfill: "Cancel a backfill",
  unregisterJob: "Unregister a job",
  pauseWork: "Pause work, and skip what becomes due",
  count: { one: "{n} action", other: "{n} actions" },
  count_more: { one: "{n} action at least", other: "{n} actions at least" },
  by: "Requested by {by}",
  until: "lapses",
  own: "Another person must confirm your request.",
  confirm: "Confirm…",
  confirm_title: "Confirm this request?",
  confirm_body: "It is made once, now, and cannot be undone.",
  confirm_go: "Make the change",
  withdraw: "Withdraw",
  withdrawn: "Withdrawn: nothing was changed.",
  done: { one: "Done: {n} change.", other: "Done: {n} changes." },
  left: { one: "{n} was left as it is.", other: "{n} were left as they are." },
});
