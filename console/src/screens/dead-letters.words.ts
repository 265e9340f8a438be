import { words } from "../words";

export const say = words("screens/dead-letters", {
  intro:
    "Actions that failed for good: their attempts are used up, or their error is not retried. Mend the cause " +
    "first, then redrive; dismiss what need not run.",
  by_error: "By what went wrong",
  redrive: "Redrive",
  redrive_name: "Redrive {id}",
  dismiss_name: "Dismiss {id}",
  redrive_group: { one: "Redrive it…", other: "Redrive these {n}…" },
  no_reason: "No reason given",
  since: "first seen {first}, last seen {last}",
  failed_at: "Failed",
  action: "Action",
  correlation_id: "Correlation id",
  message: "Message",
  attempts: "Attempts",
  counted: { one: "{n} dead letter.", other: "{n} dead letters." },
  bounded: "These are the latest {n} that were read; there are more. Filters narrow them down.",
  more_in: { one: "and {n} more of this kind", other: "and {n} more of this kind" },
  show_more: "Show them",
  good: "Nothing has failed for good",
  good_why: "What fails is tried again first, and comes here only when that is over. Nothing waits for you.",
  none: "No dead letter matches",
  none_so_far: "None matched in what was read; there may be some further back. Take a narrower filter.",
});
