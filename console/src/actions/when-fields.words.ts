import { words } from "../words";

export const say = words({
  en: {
    when: "When",
    now: "now",
    in: "in a while",
    at: "at a time",
    length: "In",
    unit: "Unit",
    seconds: "seconds",
    minutes: "minutes",
    hours: "hours",
    days: "days",
    instant: "Date and time",
    zone: "In {zone}. What lies in the past is due at once.",
    no_instant: "Say a date and a time.",
  },
  fr: {
    when: "Quand",
    now: "maintenant",
    in: "après un délai",
    at: "à une date",
    length: "Dans",
    unit: "Unité",
    seconds: "secondes",
    minutes: "minutes",
    hours: "heures",
    days: "jours",
    instant: "Date et heure",
    zone: "En {zone}. Une date passée est échue immédiatement.",
    no_instant: "Indiquez une date et une heure.",
  },
});
