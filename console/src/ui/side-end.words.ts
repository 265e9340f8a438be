import { words } from "../words";

export const say = words("ui/side-end", {
  quotas: "Quotas",
  who: "{actor} of {tenant}",
  zone: "Times in",
  own_zone: "{zone}, yours",
  language: "Language",
  no_language: "The texts in {language} could not be loaded. Choose it again later.",
  theme: "Theme",
  system: "As the system",
  light: "Light",
  dark: "Dark",
  shortcuts: "Keyboard shortcuts",
  sign_out: "Sign out",
});
