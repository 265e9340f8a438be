import { words } from "../words";

export const mine = words({
  en: {
    times: { one: "{n} time", other: "{n} times" },
    times_more: "more than {n} times",
    row: "{label}: {times}, first {first}",
    band: "{n} times, {from} – {until}",
    band_on: "from {from} on, many times",
    now: "now",
    as_list: "As a list",
  },
  fr: {
    times: "{n} fois",
    times_more: "plus de {n} fois",
    row: "{label} : {times}, la première {first}",
    band: "{n} fois, {from} – {until}",
    band_on: "à partir de {from}, très souvent",
    now: "maintenant",
    as_list: "Sous forme de liste",
  },
});
