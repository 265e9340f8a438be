import { words } from "../words";

export const say = words("ui/cannot-start", {
  title: "duetime's console cannot start",
  again: "Start again",
  soon: "It is tried again in a few seconds.",
  denied: "The sign-in was denied",
  denied_why: "The reason that the sign-in page gave:",
});
