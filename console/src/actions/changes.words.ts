import { words } from "../words";

export const say = words({
  en: {
    cancelled: "Cancelled: {type} will not run.",
    asked_to_stop: "{type} was asked to stop; it stops when its handler looks.",
    rescheduled: "{type} is now due {at}.",
    dismissed: "{type} is dismissed: it is no longer a dead letter.",
    completed: "{type} is executed.",
    failed: "{type} has failed.",
    failed_once: "This attempt of {type} has failed; another follows.",
    approved: "{type} is approved.",
    rejected: "{type} is rejected.",
    redriven: "{type} runs again now, with all its attempts.",
    redriven_at: "{type} runs again {at}, with all its attempts.",
  },
  fr: {
    cancelled: "Annulée : {type} ne sera pas exécutée.",
    asked_to_stop: "{type} a été priée de s'arrêter ; elle s'arrête dès que son code le constate.",
    rescheduled: "{type} a maintenant pour échéance {at}.",
    dismissed: "{type} est classée : ce n'est plus un échec à traiter.",
    completed: "{type} est exécutée.",
    failed: "{type} a échoué.",
    failed_once: "Cette tentative de {type} a échoué ; une autre suit.",
    approved: "{type} est approuvée.",
    rejected: "{type} est refusée.",
    redriven: "{type} est relancée maintenant, avec toutes ses tentatives.",
    redriven_at: "{type} sera relancée le {at}, avec toutes ses tentatives.",
  },
});
