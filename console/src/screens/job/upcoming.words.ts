// The words of a job's next times.

import { words } from "../../words";

export const say = words("screens/job/upcoming", {
  title: "What comes next",
  none: "No time is ahead",
  none_why: "The job runs on an event, when it is triggered, or never again.",
  gone: "The job was removed",
  gone_why: "It runs no more. Its history is kept, until it is as old as the retention.",
  moved: "moved",
  skipped: "skipped by the clocks",
  doubled: "comes twice",
  once: "only the first pass",
  will_skip: "will not run",
  deadline: "Deadline",
  at_risk: "at risk",
});
