// The times of a cadence: the next ones, and those later on to which a change of the clocks does something.

import type { Schemas } from "../api";
import { Time, written, zone as readers } from "../time";
import { Part } from "../ui/page";
import { Empty } from "../ui/states";
import { locale } from "../words";
import { ClockMark } from "./cadence-clocks";
import type { Preview } from "./cadence-load";
import { say } from "./cadences.words";

type Previewed = Schemas["PreviewedView"];

export function Times({ preview }: { preview: Preview }) {
  const { occurrences, tz } = preview;
  const isElsewhere = tz !== readers.value;
  const hasMarks = occurrences.some((each) => each.mark);
  if (occurrences.length === 0) return <Empty title={say("times_none")}>{say("none_why")}</Empty>;
  return (
    <Part title={say("times", { n: occurrences.length })}>
      <table class="folds occurrences">
        <thead>
          <tr>
            <th scope="col">{say("local", { zone: tz })}</th>
            {isElsewhere && <th scope="col">{say("reader", { zone: readers.value })}</th>}
            <th scope="col">{say("away")}</th>
            {hasMarks && <th scope="col">{say("clocks")}</th>}
          </tr>
        </thead>
        <tbody>
          {occurrences.map((each) => (
            <tr key={`${each.at} ${each.local}`} class={each.mark ? "has-mark" : undefined}>
              <td data-label={say("local_short")}>
                <Local each={each} />
              </td>
              {isElsewhere && (
                <td data-label={say("reader_short")}>
                  {each.at ? <time dateTime={each.at}>{written(each.at)}</time> : "–"}
                </td>
              )}
              <td data-label={say("away")}>{each.at ? <Time at={each.at} as="away" /> : "–"}</td>
              {hasMarks && (
                <td data-label={each.mark ? say("clocks") : undefined}>
                  {each.mark && <ClockMark each={each} />}
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </Part>
  );
}

/** What the clocks do later than the times that are shown. */
export function Changes({ changes }: { changes: Previewed[] }) {
  if (changes.length === 0) return null;
  return (
    <Part title={say("ahead")}>
      <ul class="clock-changes">
        {changes.map((each) => (
          <li key={each.local}>
            <Local each={each} /> <ClockMark each={each} />
          </li>
        ))}
      </ul>
      <p class="muted">{say("ahead_hint")}</p>
    </Part>
  );
}

/** What the wall clock of the cadence's zone shows then; struck out where it never does. */
function Local({ each }: { each: Previewed }) {
  return (
    <span>
      {each.at ? wall(each.local) : <s>{wall(each.local)}</s>}{" "}
      {each.at && <small class="offset">{offset(each.local, each.at)}</small>}
    </span>
  );
}

const FULL: Intl.DateTimeFormatOptions = {
  ...{ weekday: "short", day: "numeric", month: "short", year: "numeric" },
  ...{ hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" },
};

/** What a wall clock shows, as people write it. */
export function wall(local: string, shape: Intl.DateTimeFormatOptions = FULL): string {
  const at = local.length > 10 ? `${local}Z` : `${local}T00:00:00Z`;
  return new Intl.DateTimeFormat(locale.value, { ...shape, timeZone: "UTC" }).format(new Date(at));
}

/** How far the wall clock is ahead of UTC: +02:00. */
function offset(local: string, at: string): string {
  const minutes = Math.round((Date.parse(`${local}Z`) - Date.parse(at)) / 60_000);
  const two = (value: number) => String(value).padStart(2, "0");
  const ahead = Math.abs(minutes);
  return `${minutes < 0 ? "−" : "+"}${two(Math.floor(ahead / 60))}:${two(ahead % 60)}`;
}
