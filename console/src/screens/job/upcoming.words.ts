// The words of a job's next times.

import { words } from "../../words";

export const say = words({
  en: {
    title: "What comes next",
    none: "No time is ahead",
    none_why: "The job runs on an event, when it is triggered, or never again.",
    gone: "The job was removed",
    gone_why: "It runs no more. Its history is kept, until it is as old as the retention.",
    moved: "moved",
    skipped: "skipped by the clocks",
    doubled: "comes twice",
    once: "only the first pass",
    will_skip: "will not run",
    deadline: "Deadline",
    at_risk: "at risk",
  },
  fr: {
    title: "Ce qui vient",
    none: "Aucune échéance à venir",
    none_why: "La tâche s'exécute à l'arrivée d'un événement, quand quelqu'un la lance, ou plus du tout.",
    gone: "La tâche a été retirée",
    gone_why: "Elle ne s'exécute plus. Son historique est gardé le temps de la conservation.",
    moved: "décalée",
    skipped: "sautée par l'horloge",
    doubled: "a lieu deux fois",
    once: "premier passage seulement",
    will_skip: "ne s'exécutera pas",
    deadline: "Délai",
    at_risk: "menacé",
  },
});
