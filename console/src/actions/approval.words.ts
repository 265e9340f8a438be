import { words } from "../words";

export const say = words("actions/approval", {
  approve: "Approve…",
  approve_title: "Approve this?",
  approve_hint: "May be empty. It stays in the history.",
  approve_go: "Approve it",
  reject: "Reject…",
  reject_title: "Reject this?",
  reject_hint: "It stays in the history.",
  reject_go: "Reject it",
  reason: "Reason",
  reason_missing: "Write why you reject it.",
});
