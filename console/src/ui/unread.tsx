// How many notifications are unread, beside the way to them; when there are more, a screen reader says so.

import { useEffect, useRef, useState } from "preact/hooks";
import { api, call } from "../api";
import { useQuery } from "../query";
import { Problem } from "../problem";
import { say } from "../screens/notifications.words";
import { number } from "../words";

const COUNTED = 20;
const EVERY = 30_000;
const NO_SUCH_PART = 501;

/** The API returns no count: the page loads one page of unread entries and shows more as "20+". */
async function countUnread(signal: AbortSignal): Promise<{ n: number; isMore: boolean }> {
  const query = { unread: true, limit: COUNTED };
  try {
    const page = await call(api.GET("/notifications", { params: { query }, signal }));
    return { n: page.items.length, isMore: page.next_cursor !== null };
  } catch (error) {
    if (error instanceof Problem && error.status === NO_SUCH_PART) return { n: 0, isMore: false };
    throw error;
  }
}

export function Unread() {
  const { value } = useQuery(countUnread, "unread", EVERY);
  const n = value?.n ?? 0;
  const [news, setNews] = useState("");
  const before = useRef<number | undefined>(undefined);
  useEffect(() => {
    if (value === undefined) return;
    if (before.current !== undefined && n > before.current) setNews(say("new_ones", { n }));
    before.current = n;
  }, [value, n]);
  return (
    <>
      {n > 0 && (
        <>
          <span class="unread" aria-hidden="true">
            {number(n)}
            {value?.isMore && "+"}
          </span>
          <span class="hidden"> {say(value?.isMore ? "unread_at_least" : "unread_count", { n })}</span>
        </>
      )}
      <span class="hidden" role="status" aria-live="polite">
        {news}
      </span>
    </>
  );
}
