import { words } from "../words";

export const say = words("ui/unusable", {
  title: {
    one: "A part of this address is no filter",
    other: "{n} parts of this address are no filters",
  },
  why: "It is ignored. The list may have more than was meant, so it cannot be changed as a whole.",
  drop: "Use the other filters alone",
});
