// Pages of a list whose cursor leads only forwards: the next one, and the first again. The page is in the
// address.

import { go, href, place } from "../route";
import { say } from "../words/shared";

interface PagerProps {
  /** The place, without its query. */
  at: string[];
  next: string | null | undefined;
}

export function Pager({ at, next }: PagerProps) {
  const query = Object.fromEntries(place.value.query);
  const { cursor, ...first } = query;
  if (!next && !cursor) return null;
  return (
    <nav class="pager" aria-label={say("more")}>
      {cursor && <a href={href(...at, first)}>{say("newest")}</a>}
      {next && (
        <button type="button" onClick={() => go(href(...at, { ...query, cursor: next }))}>
          {say("more")}
        </button>
      )}
    </nav>
  );
}
