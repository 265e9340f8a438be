import { words } from "../words";

export const say = words({
  en: {
    by_error: "By what went wrong",
    redrive: "Redrive",
    redrive_name: "Redrive {id}",
    redrive_group: { one: "Redrive it…", other: "Redrive these {n}…" },
    no_reason: "No reason given",
    since: "{first} to {last}",
    failed_at: "Failed",
    action: "Action",
    correlation_id: "Correlation id",
    message: "Message",
    attempts: "Attempts",
    counted: { one: "{n} dead letter.", other: "{n} dead letters." },
    bounded: "These are the latest {n} that were read; there are more. Filters narrow them down.",
    more_in: { one: "and {n} more of this kind", other: "and {n} more of this kind" },
    show_more: "Show them",
    good: "Nothing has failed for good",
    good_why:
      "What fails is tried again first, and comes here only when that is over. Nothing waits for you.",
    none: "No dead letter matches",
    none_so_far: "None matched in what was read; there may be some further back. Take a narrower filter.",
  },
  fr: {
    by_error: "Par cause",
    redrive: "Relancer",
    redrive_name: "Relancer {id}",
    redrive_group: { one: "Relancer cette action…", other: "Relancer ces {n} actions…" },
    no_reason: "Aucun motif n'a été donné",
    since: "du {first} au {last}",
    failed_at: "Échec",
    action: "Action",
    correlation_id: "Corrélation",
    message: "Message",
    attempts: "Tentatives",
    counted: { one: "{n} échec définitif.", other: "{n} échecs définitifs." },
    bounded:
      "Voici les {n} derniers qui ont été lus ; il y en a d'autres. Les filtres permettent de préciser.",
    more_in: { one: "et {n} autre du même genre", other: "et {n} autres du même genre" },
    show_more: "Les afficher",
    good: "Rien n'a échoué définitivement",
    good_why: "Ce qui échoue est d'abord réessayé, et n'arrive ici qu'ensuite. Rien ne vous attend.",
    none: "Aucun échec définitif ne correspond",
    none_so_far:
      "Aucun dans ce qui a été lu ; il peut y en avoir de plus anciens. Choisissez un filtre plus précis.",
  },
});
