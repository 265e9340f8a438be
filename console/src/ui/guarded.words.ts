import { words } from "../words";

export const say = words("ui/guarded", {
  title: "This page cannot be shown",
  why: "The response is not of the expected shape: {error}",
});
