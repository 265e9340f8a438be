import { words } from "./words";

export const say = words("scope", {
  scope: "Whose",
  tenant: "{tenant}",
  system: "the deployment (operators)",
});
