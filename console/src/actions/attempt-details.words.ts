import { words } from "../words";

export const say = words("actions/attempt-details", {
  traceback: "Traceback",
  no_traceback: "No traceback of this attempt is stored.",
  log: "Log of this attempt",
  no_lines: "The log has no line of it. Lines may come some seconds late.",
  more_lines: "More lines exist; the log group of its worker has them.",
  trace: "Trace in X-Ray",
  again: "Read again",
});
