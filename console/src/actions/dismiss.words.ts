import { words } from "../words";

export const say = words("actions/dismiss", {
  dismiss: "Dismiss…",
  title: "Dismiss this dead letter?",
  body: "It stays failed and leaves the dead letters. It can still be redriven, from its own page.",
  reason: "Reason",
  reason_hint: "For later readers: why it needs no redrive.",
  reason_missing: "Write why it needs no redrive.",
  go: "Dismiss it",
});
