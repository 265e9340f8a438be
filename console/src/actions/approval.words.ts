import { words } from "../words";

export const say = words({
  en: {
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
  },
  fr: {
    approve: "Approuver…",
    approve_title: "Approuver ?",
    approve_hint: "Peut rester vide. Il reste dans l'historique.",
    approve_go: "Approuver",
    reject: "Refuser…",
    reject_title: "Refuser ?",
    reject_hint: "Il reste dans l'historique.",
    reject_go: "Refuser",
    reason: "Motif",
    reason_missing: "Écrivez pourquoi vous refusez.",
  },
});
