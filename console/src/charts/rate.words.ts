import { words } from "../words";

export const mine = words("charts/rate", {
  gist: {
    one: "{label}, the last hour: {n} run ended, {failed} failed",
    other: "{label}, the last hour: {n} runs ended, {failed} failed",
  },
  bar: {
    one: "{from}–{to}: {n} run ended, {failed} failed",
    other: "{from}–{to}: {n} runs ended, {failed} failed",
  },
});
