import { words } from "../words";

export const mine = words("charts/timeline", {
  times: { one: "{n} time", other: "{n} times" },
  times_more: "more than {n} times",
  row: "{label}: {times}, first {first}",
  band: "{n} times, {from} – {until}",
  band_on: "from {from} on, many times",
  now: "now",
  as_list: "As a list",
});
