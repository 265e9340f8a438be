import { words } from "../words";

export const mine = words("charts/outcomes", {
  executed: "executed",
  failed: "failed",
  other: "cancelled or skipped",
  gist:
    "Runs that ended by five minutes: {executed} executed, {failed} failed, {other} " +
    "cancelled or skipped",
  bar: "{from} – {to}: {executed} executed, {failed} failed, {other} cancelled or skipped",
});
