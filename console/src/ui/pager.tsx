// The end of a list that grows: a button that appends the next page. An address of former versions may begin
// at a later page; a link then leads to the first one.

import { href, place } from "../route";
import type { Pages } from "../shown-pages";
import { say } from "../words/shared";

interface PagerProps {
  /** The place, without its query. */
  at: string[];
  pages: Pages<{ next: string | null }>;
}

export function Pager({ at, pages }: PagerProps) {
  const { cursor, ...first } = Object.fromEntries(place.value.query);
  const next = pages.value?.next;
  if (!next && !cursor) return null;
  return (
    <nav class="pager" aria-label={say("more")}>
      {cursor && <a href={href(...at, first)}>{say("newest")}</a>}
      {next && (
        <button type="button" onClick={pages.grow} disabled={pages.isGrowing}>
          {pages.isGrowing ? say("working") : say("more")}
        </button>
      )}
    </nav>
  );
}
