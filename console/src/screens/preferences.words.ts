import type { Schemas } from "../api";
import { words } from "../words";

export type Channel = Schemas["Channel"];
export const CHANNELS: Channel[] = ["in_app", "email", "sns"];

export const channel = words("screens/preferences.channel", {
  in_app: "This list",
  email: "Mail",
  sns: "Topic (SNS)",
});

export const say = words("screens/preferences.say", {
  title: "Recipients and channels",
  above: "of {tenant}",
  channels: "What goes where",
  kind: "Notification",
  by_default: "by default",
  chosen: "chosen",
  chosen_nowhere: "chosen: nowhere",
  default_nowhere: "by default: nowhere",
  back: "Back to the default",
  back_name: "Back to the default: {kind}",
  tick: "{kind}: {channel}",
  unavailable: "This deployment has no {channel}: notifications for it reach no one until it exists.",
  for_admins: "for admins",
  only_admins: "Only an admin chooses this",
  mails: "Mails",
  language: "Language of mails",
  told_in: "There are no words in this language: mails are in English.",
  addresses: "Addresses",
  addresses_hint: "One a line, 20 at most. They get the mails that are not for admins.",
  admin_addresses: "Addresses of admins",
  admin_hint: "One a line, 20 at most. They get the mails that are for admins.",
  no_addresses: "No address",
  save: "Save",
  discard: "Discard changes",
  saved: "Saved. It applies to notifications from now on.",
  unsaved: "There are changes that are not saved.",
  nothing: "Nothing is changed.",
  changed: "Last changed {when} by {actor}",
  never: "No choices yet: all values are defaults.",
  conflict: "{actor} changed this meanwhile",
  conflict_why:
    "Nothing was saved. Below is what holds now; your changes are put aside. Make those " +
    "again that still fit.",
  someone: "Someone",
  outdated: "{actor} has just changed this",
  outdated_why: "You fill in a form over what held before.",
  take: "Show what holds now, and discard my changes",
});
