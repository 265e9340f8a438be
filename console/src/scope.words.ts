import { words } from "./words";

export const say = words("scope", {
  scope: "Notifications of",
  tenant: "{tenant}",
  system: "the deployment (operators)",
});
