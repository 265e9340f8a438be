// What a cadence means and when it is due; or where it cannot be read.

import { Days } from "../charts/days";
import { Act } from "../ui/act";
import { Part } from "../ui/page";
import { say as shared } from "../words/shared";
import { DAYS, type Preview, type Refusal, type Seen } from "./cadence-load";
import { Opinion, Surprises } from "./cadence-notes";
import { Changes, Times, wall } from "./cadence-times";
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
            <Opinion preview={preview} />
          </dl>
        </Part>
        <Part title={say("days")}>
          <Calendar weeks={weeks} first={first} />
        </Part>
      </div>
      <Surprises notes={preview.notes} />
      <Times preview={preview} />
      <Changes changes={preview.changes} />
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
