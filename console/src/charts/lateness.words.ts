import { words } from "../words";

export const mine = words("charts/lateness", {
  gist: { one: "How late {n} run began", other: "How late {n} runs began" },
  up_to: "up to {span}",
  over: "over {span}",
});
