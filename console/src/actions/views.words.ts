import { words } from "../words";

export const say = words("actions/views", {
  views: "Saved views",
  save: "Save view…",
  save_title: "Save these filters",
  save_body: "The view is in this browser, for you alone. The link shares it with others.",
  save_go: "Save",
  name: "Name",
  name_missing: "Give it a name.",
  saved: "The view {name} is saved.",
  remove: "Remove the view {name}",
  link: "Copy link",
});
