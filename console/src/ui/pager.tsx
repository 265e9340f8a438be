// The end of a list that grows: a button that appends the next page.

import type { Pages } from "../shown-pages";
import { say } from "../words/shared";

interface PagerProps {
  pages: Pages<{ next: string | null }>;
}

export function Pager({ pages }: PagerProps) {
  if (!pages.value?.next) return null;
  return (
    <nav class="pager" aria-label={say("more")}>
      <button type="button" onClick={pages.grow} disabled={pages.isGrowing}>
        {pages.isGrowing ? say("working") : say("more")}
      </button>
    </nav>
  );
}
