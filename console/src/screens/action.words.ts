import { words } from "../words";

export const say = words({
  en: {
    history: "What happened",
    payload: "Payload",
    copy_json: "Copy as JSON",
    gone: "The payload is not kept any more.",
    none_or_gone: "It was given none, or one that is not kept any more.",
    withheld: "Your roles do not let you see this payload.",
    redacted: "Your roles do not let you see:",
    tenant: "Tenant",
    correlation_id: "Correlation id",
    idempotency_key: "Idempotency key",
    concurrency_key: "Concurrency key",
    slots: "{key} ({n} at once)",
    recoveries: "Lost workers",
    lost: { one: "{n} run was lost with its worker", other: "{n} runs were lost with their workers" },
  },
  fr: {
    history: "Ce qui s'est passé",
    payload: "Charge utile",
    copy_json: "Copier en JSON",
    gone: "La charge utile n'est plus conservée.",
    none_or_gone: "Elle n'en a reçu aucune, ou elle n'est plus conservée.",
    withheld: "Vos rôles ne permettent pas de voir cette charge utile.",
    redacted: "Vos rôles ne permettent pas de voir :",
    tenant: "Organisation",
    correlation_id: "Identifiant de corrélation",
    idempotency_key: "Clé d'idempotence",
    concurrency_key: "Clé de concurrence",
    slots: "{key} ({n} à la fois)",
    recoveries: "Processus perdus",
    lost: {
      one: "{n} exécution perdue avec son processus",
      other: "{n} exécutions perdues avec leur processus",
    },
  },
});
