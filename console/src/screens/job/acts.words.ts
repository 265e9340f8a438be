// The words of what may be done to a job.

import { words } from "../../words";

export const say = words({
  en: {
    pause: "Pause",
    pause_of: "Pause {name}",
    pause_title: "Pause {name}?",
    pause_job:
      "The job starts no runs until it is resumed or the pause ends. A run in progress ends, " +
      "its retries too. What falls due meanwhile is skipped, and not made up for.",
    pause_cadence:
      "Its times pass without a run until it is resumed or the pause ends. The job's other cadences go on.",
    reason: "Reason",
    reason_hint: "Colleagues read it here. 200 characters at most.",
    until: "Ends by itself at",
    until_hint: "In {zone}. Empty: until it is resumed.",
    paused: "{name} is paused.",
    paused_until: "{name} is paused until {at}.",
    resume: "Resume",
    resume_of: "Resume {name}",
    resumed: "{name} runs again. What was passed over is not made up for.",
    skip: "Skip next",
    skip_title: "Skip the next run?",
    skip_is: "Skipped",
    skip_then: "Runs after it",
    skip_none: "Nothing more is known to run after it.",
    skip_once: "This cannot be undone; the job can be run now instead.",
    skip_go: "Skip it",
    skipped: "The run of {at} is skipped.",
    run: "Run now",
    run_title: "Run {name} now?",
    run_what: "One run begins at once, paused or not, beside its times. It has the job's retries.",
    run_busy: "A run is in progress. What becomes of this one meanwhile: {overlap}",
    payload: "Payload, as JSON",
    payload_hint: "As it is, the run is given the job's own.",
    payload_empty: "Empty: the run is given none.",
    payload_not: "This is no JSON: {problem}",
    payload_object: "A payload is an object, in braces.",
    payload_redacted: "Parts of it are redacted here. Write them out, or leave it as it was.",
    run_go: "Run it",
    ran: "A run of {name} is on its way.",
    unregister: "Unregister",
    unregister_title: "Unregister {name}?",
    unregister_what:
      "It runs no more, and what is planned is skipped. Its history is kept, and stays here. " +
      "To have it again, it must be registered anew.",
    unregistered: "{name} is unregistered. Its history is kept.",
  },
  fr: {
    pause: "Mettre en pause",
    pause_of: "Mettre {name} en pause",
    pause_title: "Mettre {name} en pause ?",
    pause_job:
      "Elle n'exécute plus rien, jusqu'à ce que quelqu'un la reprenne ou que la pause se " +
      "termine. Une exécution en cours se termine, nouvelles tentatives comprises. Les " +
      "échéances de la pause sont ignorées, et ne sont pas rattrapées.",
    pause_cadence:
      "Ses échéances passent sans exécution, jusqu'à ce que quelqu'un la reprenne ou que la " +
      "pause se termine. Les autres cadences de la tâche continuent.",
    reason: "Motif",
    reason_hint: "Vos collègues le lisent ici. 200 caractères au plus.",
    until: "Se termine d'elle-même le",
    until_hint: "Heure de {zone}. Vide : jusqu'à ce que quelqu'un la reprenne.",
    paused: "{name} est en pause.",
    paused_until: "{name} est en pause jusqu'au {at}.",
    resume: "Reprendre",
    resume_of: "Reprendre {name}",
    resumed: "{name} a repris. Les échéances passées ne sont pas rattrapées.",
    skip: "Sauter la suivante",
    skip_title: "Sauter l'exécution suivante ?",
    skip_is: "Sautée",
    skip_then: "S'exécute ensuite",
    skip_none: "Rien d'autre n'est prévu ensuite.",
    skip_once: "Cela ne peut pas être annulé ; la tâche peut en revanche être lancée à la main.",
    skip_go: "La sauter",
    skipped: "L'exécution du {at} est sautée.",
    run: "Lancer maintenant",
    run_title: "Lancer {name} maintenant ?",
    run_what:
      "Une exécution commence aussitôt, en pause ou non, en plus des échéances. Elle a les " +
      "tentatives de la tâche.",
    run_busy: "Une exécution est en cours. Ce qu'il advient alors de celle-ci : {overlap}",
    payload: "Charge utile, en JSON",
    payload_hint: "Telle quelle, l'exécution reçoit celle de la tâche.",
    payload_empty: "Vide : l'exécution n'en reçoit aucune.",
    payload_not: "Ce n'est pas du JSON : {problem}",
    payload_object: "Une charge utile est un objet, entre accolades.",
    payload_redacted: "Certaines parties sont masquées ici. Écrivez-les, ou laissez-la telle quelle.",
    run_go: "La lancer",
    ran: "Une exécution de {name} est en route.",
    unregister: "Retirer",
    unregister_title: "Retirer {name} ?",
    unregister_what:
      "Elle ne s'exécute plus, et ce qui est prévu est ignoré. Son historique est conservé, et " +
      "reste ici. Pour la retrouver, il faut l'enregistrer à nouveau.",
    unregistered: "{name} est retirée. Son historique est conservé.",
  },
});

export const overlap = words({
  en: {
    skip: "it is skipped.",
    queue_one: "one waits, and starts when the other ends.",
    allow: "they run side by side.",
    cancel_running: "the running one is asked to stop.",
  },
  fr: {
    skip: "elle est ignorée.",
    queue_one: "une seule attend, et commence quand l'autre se termine.",
    allow: "elles s'exécutent côte à côte.",
    cancel_running: "il est demandé à celle en cours de s'arrêter.",
  },
});
