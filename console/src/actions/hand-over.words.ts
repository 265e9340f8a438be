import { words } from "../words";

export const say = words({
  en: {
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
  },
  fr: {
    since: "confiée",
    heartbeat: "dernier signe de vie",
    progress: "Avancement",
    complete: "Terminer…",
    complete_title: "Terminer cette action ?",
    complete_body:
      "Elle prend fin comme exécutée, en votre nom. Celui qui a son jeton n'y peut plus rien changer ensuite.",
    complete_go: "Terminer l'action",
    result: "Résultat, en JSON (facultatif)",
    result_hint: "Conservé avec l'action, 2 Ko au plus.",
    no_json: "Ce n'est pas du JSON : {why}",
    fail: "Mettre en échec…",
    fail_title: "Mettre cette tentative en échec ?",
    fail_body:
      "La tentative prend fin en échec, en votre nom. Celui qui a son jeton n'y peut plus rien changer ensuite.",
    fail_go: "Mettre en échec",
    reason: "Motif",
    reason_missing: "Écrivez pourquoi elle a échoué.",
    retry: "Réessayer, si les règles le permettent",
  },
});
