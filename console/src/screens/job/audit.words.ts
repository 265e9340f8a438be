// The words of a job's trail of changes.

import { words } from "../../words";

export const say = words({
  en: {
    title: "Who changed it",
    none: "Nobody has changed it yet",
    none_why: "What is done here, over the API or the command line is told here, with what came of it.",
    who: "Who",
    what: "What",
    from: "From",
    result: "What came of it",
    done: "done",
    refused: "refused ({status})",
    unknown: "nobody knows",
    pause: "pause",
    resume: "resume",
    trigger: "run now",
    "skip-next": "skip the next run",
    set: "retry settings",
    register: "register",
    replace: "register anew",
    unregister: "unregister",
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
] as const;

export function operation(told: string): string {
  const known = OPERATIONS.find((each) => each === told);
  return known ? say(known) : told;
}
