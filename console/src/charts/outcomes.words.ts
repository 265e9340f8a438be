import { words } from "../words";

export const mine = words({
  en: {
    executed: "executed",
    failed: "failed",
    other: "cancelled or skipped",
    gist:
      "Runs that ended by five minutes: {executed} executed, {failed} failed, {other} " +
      "cancelled or skipped",
    bar: "{from} – {to}: {executed} executed, {failed} failed, {other} cancelled or skipped",
  },
  fr: {
    executed: "exécutées",
    failed: "échouées",
    other: "annulées ou ignorées",
    gist:
      "Exécutions terminées, par cinq minutes : {executed} exécutées, {failed} échouées, " +
      "{other} annulées ou ignorées",
    bar: "{from} – {to} : {executed} exécutées, {failed} échouées, {other} annulées ou ignorées",
  },
});
