// The words of a job's trail of changes.

import { words } from "../../words";

export const say = words("screens/job/audit", {
  title: "Who changed it",
  none: "No changes yet",
  none_why: "Changes from the console, the API and the command line are listed here, with their results.",
  who: "Who",
  what: "What",
  from: "From",
  result: "What came of it",
  done: "done",
  refused: "refused ({status})",
  unknown: "result unknown",
  pause: "pause",
  resume: "resume",
  trigger: "run now",
  "skip-next": "skip the next run",
  set: "retry settings",
  register: "register",
  replace: "register again",
  unregister: "unregister",
  backfill: "backfill",
  "change-backfill": "pause, resume or cancel a backfill",
});

const OPERATIONS = [
  "pause",
  "resume",
  "trigger",
  "skip-next",
  "set",
  "register",
  "replace",
  "unregister",
  "backfill",
  "change-backfill",
] as const;

export function operation(name: string): string {
  const known = OPERATIONS.find((each) => each === name);
  return known ? say(known) : name;
}
