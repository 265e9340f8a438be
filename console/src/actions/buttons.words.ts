import { words } from "../words";

export const say = words({
  en: {
    cancel: "Cancel it…",
    cancel_title: "Cancel this action?",
    cancel_body: "It will not run, and that cannot be undone: to have it done after all, schedule another.",
    cancel_go: "Cancel it",
    stop: "Ask it to stop…",
    stop_title: "Ask this action to stop?",
    stop_body:
      "The action is running. Its handler receives the request within seconds. If it checks " +
      "for it, it stops; otherwise it runs to its end. There is no retry. This cannot be " +
      "undone.",
    stop_go: "Ask it to stop",
    reschedule: "Reschedule…",
    reschedule_title: "Give it another due time",
    reschedule_go: "Reschedule it",
    redrive: "Redrive…",
    redrive_title: "Run it again",
    redrive_body: "It runs again with all its attempts. The attempts before stay in its history.",
    redrive_go: "Run it again",
  },
  fr: {
    cancel: "Annuler…",
    cancel_title: "Annuler cette action ?",
    cancel_body:
      "Elle ne sera pas exécutée, et c'est définitif : pour qu'elle le soit malgré tout, " +
      "planifiez-en une autre.",
    cancel_go: "Annuler l'action",
    stop: "Demander l'arrêt…",
    stop_title: "Demander l'arrêt de cette action ?",
    stop_body:
      "Elle est en cours. Son code en est averti en quelques secondes et s'arrête s'il le " +
      "vérifie ; sinon elle va jusqu'au bout. Elle n'est pas réessayée. C'est définitif.",
    stop_go: "Demander l'arrêt",
    reschedule: "Déplacer…",
    reschedule_title: "Lui donner une autre échéance",
    reschedule_go: "Déplacer l'échéance",
    redrive: "Relancer…",
    redrive_title: "La relancer",
    redrive_body:
      "Elle est relancée avec toutes ses tentatives. Les tentatives précédentes restent dans son historique.",
    redrive_go: "Relancer",
  },
});
