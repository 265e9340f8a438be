// The words of a job's history.

import { words } from "../../words";

export const say = words("screens/job/history", {
  title: "Runs",
  from: "From",
  until: "Until",
  clear: "Show all",
  none: "It has not run yet",
  none_why: "A run appears once it is due or triggered.",
  due_only: "Runs that were due. The status pending shows planned runs too.",
  none_so: "None of the runs that were looked at is like that",
  none_more: "Older ones may be: show more.",
  none_all: "There are no older ones.",
  nominal: "Due at",
  attempts: "Attempts",
  trigger: "By",
  message: "Message",
  on_time: "on time",
  by_of: "by {who}",
});
