import { words } from "../words";

export const mine = words({
  en: {
    gist: { one: "How late {n} run began", other: "How late {n} runs began" },
    up_to: "up to {span}",
    over: "over {span}",
  },
  fr: {
    gist: { one: "Retard au départ de {n} exécution", other: "Retard au départ de {n} exécutions" },
    up_to: "jusqu'à {span}",
    over: "plus de {span}",
  },
});
