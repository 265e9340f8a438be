import { words } from "../words";

export const say = words({
  en: {
    same_id: "Of the same correlation id",
    all_of_id: "Show all",
    before: "Runs of its job before it",
    the_job: "The job",
    none: "None was found",
  },
  fr: {
    same_id: "Même identifiant de corrélation",
    all_of_id: "Tout afficher",
    before: "Exécutions précédentes de sa tâche",
    the_job: "La tâche",
    none: "Aucune n'a été trouvée",
  },
});
