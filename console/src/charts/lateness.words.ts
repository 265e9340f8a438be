import { words } from "../words";

export const mine = words({
  en: {
    gist: {
      one: "How late {n} run began",
      other: "How late {n} runs began: half within {median}, the latest {worst}",
    },
    dot: "{what}: {late} late, {at}",
  },
  fr: {
    gist: {
      one: "Retard au départ de {n} exécution",
      other: "Retard au départ de {n} exécutions : la moitié en moins de {median}, au plus {worst}",
    },
    dot: "{what} : {late} de retard, {at}",
  },
});
