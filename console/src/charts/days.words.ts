import { words } from "../words";

export const say = words("charts/days", {
  gist: {
    one: "Due on {n} of {all} days, from {from} to {to}",
    other: "Due on {n} of {all} days, from {from} to {to}",
  },
  gist_known: {
    one: "Due on {n} day up to {known}; later days are not counted",
    other: "Due on {n} days up to {known}; later days are not counted",
  },
  times: { one: "{day}: once", other: "{day}: {n} times" },
  none: "{day}: not due",
  unknown: "{day}: not counted",
  marked: "the clocks are changed",
});
