import { words } from "./words";

export const mine = words("app", {
  skip: "Skip to the content",
  nav: "Console",
  language: "Language",
  no_language: "The texts in {language} could not be loaded. Choose it again later.",
  zone: "Times in",
  own_zone: "{zone}, yours",
  live: "live",
  old: "{span} old",
  loading: "loading",
  failing: "no answer",
  settings: "Account, language and times",
  sign_out: "Sign out",
  no_part_title: "A part of the console is missing",
  no_part: "This screen could not be loaded. A new version may have been deployed: try again.",
  nowhere: "There is no such page",
  who: "{actor} of {tenant}",
});
