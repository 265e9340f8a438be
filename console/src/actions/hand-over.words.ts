import { words } from "../words";

export const say = words("actions/hand-over", {
  since: "handed over",
  heartbeat: "last heartbeat",
  progress: "Progress",
  complete: "Complete…",
  complete_title: "Complete this action?",
  complete_body:
    "It ends as executed, in your name. The party that has its token can change nothing after that.",
  complete_go: "Complete it",
  result: "Result, as JSON (optional)",
  result_hint: "Stored with the action, at most 2 KB.",
  no_json: "This is no JSON: {why}",
  fail: "Fail…",
  fail_title: "Fail this attempt?",
  fail_body:
    "The attempt ends as failed, in your name. The party that has its token can change nothing after that.",
  fail_go: "Fail it",
  reason: "Reason",
  reason_missing: "Write why it failed.",
  retry: "Try again, if the retry policy allows it",
});
