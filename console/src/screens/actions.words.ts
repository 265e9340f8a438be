import { words } from "../words";

export const say = words({
  en: {
    action: "Action",
    correlation_id: "Correlation id",
    nominal: "Nominal time",
    attempts: "Attempts",
    by: "Scheduled by",
    message: "Last message",
    caption: "Actions",
    by_correlation: "Show all of {id}",
    empty: "No action matches",
    empty_why: "Take a filter away, or look at another time.",
    nothing: "Nothing is scheduled yet",
    nothing_why: "Actions that your services schedule appear here. You can schedule one yourself.",
    none_so_far: "None so far",
    none_so_far_why:
      "A list reads a part at a time and leaves out what does not match. There may be some further on.",
    further: "Look further",
    short: "Not all of this part matched the filters. There may be more further on.",
  },
  fr: {
    action: "Action",
    correlation_id: "Corrélation",
    nominal: "Échéance nominale",
    attempts: "Tentatives",
    by: "Planifiée par",
    message: "Dernier message",
    caption: "Actions",
    by_correlation: "Afficher toutes celles de {id}",
    empty: "Aucune action ne correspond",
    empty_why: "Retirez un filtre, ou choisissez une autre période.",
    nothing: "Rien n'est encore planifié",
    nothing_why:
      "Les actions que vos services planifient apparaissent ici. Vous pouvez en planifier une vous-même.",
    none_so_far: "Aucune jusqu'ici",
    none_so_far_why:
      "Une liste est lue par parties, et ce qui ne correspond pas est laissé de côté. Il peut " +
      "y en avoir plus loin.",
    further: "Chercher plus loin",
    short: "Tout n'a pas correspondu aux filtres dans cette partie. Il peut y en avoir d'autres plus loin.",
  },
});
