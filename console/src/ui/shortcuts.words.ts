import { words } from "../words";

export const say = words("ui/shortcuts", {
  title: "Keyboard shortcuts",
  keys: "Keys",
  what: "Effect",
  search: "Search, or choose a command",
  move: "Go through what was found",
  take: "Open what is selected",
  next: "Go to the next link, button or field",
  previous: "Go to the one before",
  close: "Close a dialog without a change",
  list: "Show this list",
});
