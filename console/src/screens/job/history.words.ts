// The words of a job's history.

import { words } from "../../words";

export const say = words({
  en: {
    title: "Runs",
    from: "From",
    until: "Until",
    clear: "Show all",
    none: "It has not run yet",
    none_why: "A run appears once it is due or triggered.",
    due_only: "Those that were due; with the status pending, the planned ones too",
    none_so: "None of the runs that were looked at is like that",
    none_more: "Older ones may be: show more.",
    none_all: "There are no older ones.",
    nominal: "Due at",
    attempts: "Attempts",
    trigger: "By",
    message: "Message",
    on_time: "on time",
    by_of: "by {who}",
  },
  fr: {
    title: "Exécutions",
    from: "Du",
    until: "Au",
    clear: "Tout afficher",
    none: "Elle ne s'est pas encore exécutée",
    none_why: "Une exécution figure ici dès son échéance, ou dès que quelqu'un la lance.",
    due_only: "Celles qui étaient à échéance ; avec l'état « en attente », aussi les suivantes",
    none_so: "Aucune des exécutions examinées n'y correspond",
    none_more: "Il y en a peut-être de plus anciennes : affichez la suite.",
    none_all: "Il n'y en a pas de plus anciennes.",
    nominal: "Échéance",
    attempts: "Tentatives",
    trigger: "Origine",
    message: "Message",
    on_time: "à l'heure",
    by_of: "par {who}",
  },
});
