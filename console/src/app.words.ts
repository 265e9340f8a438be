import { words } from "./words";

export const mine = words("app", {
  skip: "Skip to the content",
  nav: "Console",
  live: "live",
  old: "{span} old",
  loading: "loading",
  failing: "no answer",
  settings: "Account, language, times and theme",
  no_part_title: "A part of the console is missing",
  no_part: "This screen could not be loaded. A new version may have been deployed: try again.",
  nowhere: "There is no such page",
});
