import { words } from "../words";

export const say = words({
  en: {
    dismiss: "Dismiss…",
    title: "Dismiss this dead letter?",
    body: "It stays failed and leaves the dead letters. It can still be redriven, from its own page.",
    reason: "Reason",
    reason_hint: "For later readers: why it needs no redrive.",
    reason_missing: "Write why it needs no redrive.",
    go: "Dismiss it",
  },
  fr: {
    dismiss: "Classer…",
    title: "Classer cet échec définitif ?",
    body:
      "L'action reste en échec et quitte les échecs définitifs. Elle peut encore être relancée, " +
      "depuis sa page.",
    reason: "Motif",
    reason_hint: "Pour les lecteurs suivants : pourquoi elle n'est pas relancée.",
    reason_missing: "Écrivez pourquoi elle n'est pas relancée.",
    go: "Classer",
  },
});
