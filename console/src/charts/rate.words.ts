import { words } from "../words";

export const mine = words({
  en: {
    gist: {
      one: "{label}, the last hour: {n} run ended, {failed} failed",
      other: "{label}, the last hour: {n} runs ended, {failed} failed",
    },
    bar: {
      one: "{from}–{to}: {n} run ended, {failed} failed",
      other: "{from}–{to}: {n} runs ended, {failed} failed",
    },
  },
  fr: {
    gist: {
      one: "{label}, dernière heure : {n} exécution terminée, dont {failed} en échec",
      other: "{label}, dernière heure : {n} exécutions terminées, dont {failed} en échec",
    },
    bar: {
      one: "{from}–{to} : {n} exécution terminée, dont {failed} en échec",
      other: "{from}–{to} : {n} exécutions terminées, dont {failed} en échec",
    },
  },
});
