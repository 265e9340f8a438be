import { words } from "../words";

export const say = words("screens/actions", {
  action: "Action",
  correlation_id: "Correlation id",
  nominal: "Nominal time",
  attempts: "Attempts",
  by: "Scheduled by",
  message: "Last message",
  caption: "Actions",
  by_correlation: "Show all of {id}",
  empty: "No action matches",
  empty_why: "Take a filter away, or look at another time.",
  nothing: "Nothing is scheduled yet",
  nothing_why: "Actions that your services schedule appear here. You can schedule one yourself.",
  none_so_far: "None so far",
  none_so_far_why:
    "A list reads a part at a time and leaves out what does not match. There may be some further on.",
  further: "Look further",
  scanned: "{n} actions compared, up to {at}.",
  scanned_all: "All {n} actions compared.",
  choose: "Choose",
  choose_all: "Choose all rows",
  choose_one: "Choose {id}",
  chosen: { one: "{n} chosen action", other: "{n} chosen actions" },
  short: "Not all of this part matched the filters. There may be more further on.",
});
