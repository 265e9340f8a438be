import { words } from "../words";

export const say = words("actions/when-fields", {
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
});
