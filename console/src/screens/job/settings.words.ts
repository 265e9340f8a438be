// The words of how a job's runs are retried, and what operators set of it.

import { words } from "../../words";

export const say = words({
  en: {
    title: "Retries",
    what: "Operators may set these on top of what was declared. What they set survives every deploy.",
    which: "Of",
    whole: "the whole job",
    attempts: "Runs in all",
    backoff: "Wait before each further run",
    jitter: "Jitter",
    give_up: "No further run is started {span} after the first was due.",
    change: "Change",
    change_of: "Change the retries of {name}",
    set_here: "set by operators",
    set_for_job: "as for the whole job",
    declared: "as declared",
    handler: "as the handler says",
    declared_is: "declared: {value}",
    ask: "How runs are retried: {name}",
    attempts_hint: "1 to 100. Empty: {fallback}.",
    backoff_hint:
      "In seconds: one number, or several as 30, 300, of which the last one repeats. Empty: {fallback}.",
    jitter_hint:
      "By which share of itself a wait is lengthened at most, at random: 0.1 is a tenth. Empty: {fallback}.",
    goes_by: "{source} ({value})",
    save: "Save",
    saved: "The retries of {name} are set. They hold for runs that fail from now on.",
    not_number: "This is no number: {text}",
  },
  fr: {
    title: "Nouvelles tentatives",
    what:
      "Les opérateurs peuvent régler ceci par-dessus ce qui est déclaré. Ces réglages " +
      "survivent à chaque déploiement.",
    which: "Pour",
    whole: "toute la tâche",
    attempts: "Tentatives en tout",
    backoff: "Attente avant chaque nouvelle tentative",
    jitter: "Dispersion",
    give_up: "Aucune tentative n'est lancée plus de {span} après la première échéance.",
    change: "Modifier",
    change_of: "Modifier les tentatives de {name}",
    set_here: "réglé par un opérateur",
    set_for_job: "comme pour toute la tâche",
    declared: "comme déclaré",
    handler: "selon le traitement",
    declared_is: "déclaré : {value}",
    ask: "Nouvelles tentatives : {name}",
    attempts_hint: "De 1 à 100. Vide : {fallback}.",
    backoff_hint:
      "En secondes : un nombre, ou plusieurs comme 30, 300, dont le dernier se répète. Vide : {fallback}.",
    jitter_hint:
      "La part de l'attente qui s'y ajoute au plus, au hasard : 0.1 est un dixième. Vide : {fallback}.",
    goes_by: "{source} ({value})",
    save: "Enregistrer",
    saved: "Les tentatives de {name} sont réglées. Elles valent pour les exécutions qui échouent désormais.",
    not_number: "Ce n'est pas un nombre : {text}",
  },
});
