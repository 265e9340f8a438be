import { words } from "../words";

export const mine = words("charts/sparkline", {
  gist: {
    one: "{label}: {n} run, {failed} failed; the newest: {status}",
    other: "{label}: {n} runs, {failed} failed; the newest: {status}",
  },
  none: "{label}: no run yet",
  for: "{status}, for {span}",
});
