import { words } from "../words";

export const mine = words({
  en: {
    gist: {
      one: "{label}: {n} run, {failed} failed; the newest: {status}",
      other: "{label}: {n} runs, {failed} failed; the newest: {status}",
    },
    none: "{label}: no run yet",
    for: "{status}, for {span}",
  },
  fr: {
    gist: {
      one: "{label} : {n} exécution, dont {failed} en échec ; la plus récente : {status}",
      other: "{label} : {n} exécutions, dont {failed} en échec ; la plus récente : {status}",
    },
    none: "{label} : aucune exécution pour l'instant",
    for: "{status}, durée {span}",
  },
});
