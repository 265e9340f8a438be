// The words of how a job's runs are retried, and what operators set of it.

import { words } from "../../words";

export const say = words("screens/job/settings", {
  title: "Retries",
  what: "Operators may set these on top of what was declared. What they set survives every deploy.",
  which: "Of",
  whole: "the whole job",
  attempts: "Runs in all",
  backoff: "Wait before each further run",
  jitter: "Jitter",
  give_up: "No further run is started {span} after the first was due.",
  change: "Change",
  change_of: "Change the retries of {name}",
  set_here: "set by operators",
  set_for_job: "as for the whole job",
  declared: "as declared",
  handler: "as the handler says",
  declared_is: "declared: {value}",
  ask: "How runs are retried: {name}",
  attempts_hint: "1 to 100. Empty: {fallback}.",
  backoff_hint:
    "In seconds: one number, or several as 30, 300, of which the last one repeats. Empty: {fallback}.",
  jitter_hint: "Each wait gets longer at random, by at most this share: 0.1 is 10 %. Empty: {fallback}.",
  goes_by: "{source} ({value})",
  save: "Save",
  saved: "The retries of {name} are set. They hold for runs that fail from now on.",
  not_number: "This is no number: {text}",
});
