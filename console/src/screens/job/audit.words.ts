// The words of a job's trail of changes.

import { words } from "../../words";

export const say = words({
  en: {
    title: "Who changed it",
    none: "No changes yet",
    none_why: "Changes from the console, the API and the command line are listed here, with their results.",
    who: "Who",
    what: "What",
    from: "From",
    result: "What came of it",
    done: "done",
    refused: "refused ({status})",
    unknown: "result unknown",
    pause: "pause",
    resume: "resume",
    trigger: "run now",
    "skip-next": "skip the next run",
    set: "retry settings",
    register: "register",
    replace: "register anew",
    unregister: "unregister",
    backfill: "backfill",
    "pause-backfill": "pause a backfill",
    "resume-backfill": "resume a backfill",
    "cancel-backfill": "cancel a backfill",
  },
  fr: {
    title: "Qui l'a modifiée",
    none: "Personne ne l'a encore modifiée",
    none_why: "Ce qui est fait ici, par l'API ou en ligne de commande y figure, avec ce qu'il en est advenu.",
    who: "Qui",
    what: "Quoi",
    from: "Depuis",
    result: "Résultat",
    done: "fait",
    refused: "refusé ({status})",
    unknown: "personne ne le sait",
    pause: "mise en pause",
    resume: "reprise",
    trigger: "lancement",
    "skip-next": "saut de l'exécution suivante",
    set: "réglages des tentatives",
    register: "enregistrement",
    replace: "nouvel enregistrement",
    unregister: "retrait",
    backfill: "rattrapage manuel",
    "pause-backfill": "pause d'un rattrapage",
    "resume-backfill": "reprise d'un rattrapage",
    "cancel-backfill": "annulation d'un rattrapage",
  },
});

const OPERATIONS = [
  "pause",
  "resume",
  "trigger",
  "skip-next",
  "set",
  "register",
  "replace",
  "unregister",
  "backfill",
  "pause-backfill",
  "resume-backfill",
  "cancel-backfill",
] as const;

export function operation(name: string): string {
  const known = OPERATIONS.find((each) => each === name);
  return known ? say(known) : name;
}
