// Whether the window is as narrow as a phone's; as the style's own bound.

import { signal } from "@preact/signals";

const bound = matchMedia("(max-width: 52rem)");

export const isNarrow = signal(bound.matches);
bound.addEventListener("change", () => {
  isNarrow.value = bound.matches;
});
