import { words } from "../words";

export const mine = words("charts/attempt-bars", {
  attempt: "Attempt {n}",
  gist: "Attempt {n}: waited {wait}, {queue} in the queue, ran {run}",
  wait: "wait",
  queue: "queue",
  run: "run",
});
