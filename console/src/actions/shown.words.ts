import { words } from "../words";

export const say = words({
  en: {
    of_job: "A run of the job {job}",
    waits: "due for {span}",
    late: "began {span} late",
    punctual: "on time",
    with_lost: "{count} ({n} lost)",
    skip_overlap: "another run of its job had not ended",
    skip_paused: "its job was paused",
    skip_disabled: "its job was dropped",
    skip_missed: "it came too late to be run",
    skip_retired: "its job was changed",
    skip_covered: "a later run stands for it",
    skip_asked: "skipped by an operator",
    skip_refused: "its event names no tenant",
  },
  fr: {
    of_job: "Une exécution de la tâche {job}",
    waits: "échue depuis {span}",
    late: "commencée avec {span} de retard",
    punctual: "à l'heure",
    with_lost: "{count} (dont {n} perdue)",
    skip_overlap: "une autre exécution de sa tâche n'était pas terminée",
    skip_paused: "sa tâche était en pause",
    skip_disabled: "sa tâche a été retirée",
    skip_missed: "elle arrivait trop tard pour être exécutée",
    skip_retired: "sa tâche a été modifiée",
    skip_covered: "une exécution ultérieure la remplace",
    skip_asked: "quelqu'un l'a fait ignorer",
    skip_refused: "son événement ne nomme aucune organisation",
  },
});
