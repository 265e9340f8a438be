// What a cadence means and when it is due; or where it cannot be read.

import { Days } from "../charts/days";
import { Time, written, zone as readers } from "../time";
import { Act } from "../ui/act";
import { Part } from "../ui/page";
import { Empty } from "../ui/states";
import { locale } from "../words";
import { say as shared } from "../words/shared";
import { DAYS, type Preview, type Refusal, type Seen } from "./cadence-load";
import { ClockMark } from "./cadence-clocks";
import { say } from "./cadences.words";

export function CadenceRefused({ refusal }: { refusal: Refusal }) {
  const letters = [...refusal.text];
  const end = refusal.start + Math.max(refusal.width, 1);
  const part = (from: number, to?: number) => letters.slice(from, to).join("");
  return (
    <div class="state is-problem refusal" role="status">
      <p class="state-title">{say("refused")}</p>
      <pre>
        {part(0, refusal.start)}
        <mark aria-label={say("place")}>{part(refusal.start, end) || " "}</mark>
        {part(end)}
      </pre>
      <p lang="en">{[refusal.problem, refusal.remedy].filter(Boolean).join("; ")}</p>
    </div>
  );
}

export function CadenceShown({ seen }: { seen: Exclude<Seen, { refusal: Refusal }> }) {
  const { preview, weeks, first } = seen;
  return (
    <>
      <div class="cadence-top">
        <Part title={say("means")}>
          <p class="sentence" lang="en">
            {preview.words}
          </p>
          <dl class="facts">
            <dt>{say("normal")}</dt>
            <dd>
              <code>{preview.cadence}</code>{" "}
              <Act
                label={shared("copy")}
                name={say("copy_normal")}
                kind="quiet"
                run={() => copy(preview.cadence)}
              />
            </dd>
            <dt>{say("name")}</dt>
            <dd>
              <code>{preview.name}</code>
            </dd>
          </dl>
        </Part>
        <Part title={say("days")}>
          <Calendar weeks={weeks} first={first} />
        </Part>
      </div>
      <Times preview={preview} />
    </>
  );
}

async function copy(text: string): Promise<string> {
  try {
    await navigator.clipboard.writeText(text);
    return say("copied");
  } catch {
    throw new Error(say("not_copied"));
  }
}

function Calendar({ weeks, first }: { weeks: Preview; first: string }) {
  const due = new Map<string, number>();
  const marked = new Set<string>();
  for (const each of weeks.occurrences) {
    const day = each.local.slice(0, 10);
    if (each.at) due.set(day, (due.get(day) ?? 0) + 1);
    if (each.mark) marked.add(day);
  }
  const known = weeks.is_cut ? weeks.occurrences.at(-1)?.local.slice(0, 10) : undefined;
  return (
    <>
      <Days first={first} count={DAYS} due={due} marked={marked} known={known} />
      <p class="days-legend muted">
        <span class="legend-due" aria-hidden="true" /> {say("days_legend")}
        {marked.size > 0 && (
          <>
            <span class="legend-mark" aria-hidden="true" /> {say("days_mark")}
          </>
        )}
      </p>
      {known && (
        <p class="muted">{say("days_cut", { day: wall(known, { day: "numeric", month: "short" }) })}</p>
      )}
    </>
  );
}

function Times({ preview }: { preview: Preview }) {
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
            <tr key={`${each.at} ${each.local}`} class={each.mark ? `is-${each.mark}` : undefined}>
              <td data-label={say("local_short")}>
                <span>
                  {each.at ? wall(each.local) : <s>{wall(each.local)}</s>}{" "}
                  {each.at && <small class="offset">{offset(each.local, each.at)}</small>}
                </span>
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

const FULL: Intl.DateTimeFormatOptions = {
  ...{ weekday: "short", day: "numeric", month: "short", year: "numeric" },
  ...{ hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" },
};

/** What a wall clock shows, as people write it. */
function wall(local: string, shape: Intl.DateTimeFormatOptions = FULL): string {
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
