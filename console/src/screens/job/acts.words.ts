// The words of what may be done to a job.

import { words } from "../../words";

export const say = words("screens/job/acts.say", {
  pause: "Pause",
  pause_of: "Pause {name}",
  pause_title: "Pause {name}?",
  pause_job:
    "The job starts no runs until it is resumed or the pause ends. A run in progress ends, " +
    "its retries too. What falls due meanwhile is skipped, and does not run later.",
  pause_cadence:
    "Its times pass without a run until it is resumed or the pause ends. The job's other cadences go on.",
  reason: "Reason",
  reason_hint: "Colleagues read it here. 200 characters at most.",
  until: "Ends by itself at",
  until_hint: "In {zone}. Empty: until it is resumed.",
  paused: "{name} is paused.",
  paused_until: "{name} is paused until {at}.",
  resume: "Resume",
  resume_of: "Resume {name}",
  resumed: "{name} runs again. What the pause skipped does not run later.",
  skip: "Skip next",
  skip_title: "Skip the next run?",
  skip_is: "Skipped",
  skip_then: "Runs after it",
  skip_none: "Nothing more is known to run after it.",
  skip_once: "This cannot be undone; the job can be run now instead.",
  skip_go: "Skip it",
  skipped: "The run of {at} is skipped.",
  run: "Run now",
  run_title: "Run {name} now?",
  run_what: "One run begins at once, paused or not, beside its times. It has the job's retries.",
  run_busy: "A run is in progress. What becomes of this one meanwhile: {overlap}",
  payload: "Payload, as JSON",
  payload_hint: "As it is, the run is given the job's own.",
  payload_empty: "Empty: the run is given none.",
  payload_not: "This is no JSON: {problem}",
  payload_object: "A payload is an object, in braces.",
  payload_redacted: "Parts of it are redacted here. Write them out, or leave it as it was.",
  run_go: "Run it",
  ran: "A run of {name} is on its way.",
  unregister: "Unregister",
  unregister_title: "Unregister {name}?",
  unregister_what:
    "It runs no more, and what is planned is skipped. Its history is kept, and stays here. " +
    "To have it back, register it again.",
  unregistered: "{name} is unregistered. Its history is kept.",
});

export const overlap = words("screens/job/acts.overlap", {
  skip: "it is skipped.",
  queue_one: "one waits, and starts when the other ends.",
  allow: "they run side by side.",
  cancel_running: "the running one is requested to stop.",
});
