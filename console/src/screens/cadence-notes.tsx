// What is to be said of a cadence beside its times, in the page's words; the API's own where it says it
// otherwise.

import { Part } from "../ui/page";
import type { Preview } from "./cadence-load";
import { say } from "./cadence-notes.words";

const SENTENCES = [
  [/^six fields begin .* write "(?<written>.+)"$/, "six_fields"],
  [/^in day-of-week (?<written>\S+) Sunday is 0 or 7 /, "numbers"],
  [
    /^(?<written>\S+) restarts .*: from minute (?<last>\d+) to the next (?<first>\d+) .* (?<n>\d+) minutes?; (?<even>\S+) is even$/,
    "minutes",
  ],
  [
    /^(?<written>\S+) restarts .*: from hour (?<last>\d+) to the next (?<first>\d+) .* (?<n>\d+) hours?; (?<even>\S+) is even$/,
    "hours",
  ],
  [/^minute \* runs .* write "(?<once>.+)"$/, "each_minute"],
  [/^second \* runs .* write "(?<once>.+)"$/, "each_second"],
  [/^(?<written>\S+) restarts on the 1st of each month; (?<even>.+) is even$/, "days"],
  [/^month (?<written>\S+) restarts .*: from month (?<last>\d+) .* (?<n>\d+) months?;/, "months"],
  [/^day-of-week (?<written>\S+) restarts .*: from day (?<last>\d+) .* (?<n>\d+) days?;/, "weekdays"],
  [
    /^(?<field>\S+) (?<written>\S+) goes over the end .*: (?<low>\d+) and later, and up to (?<high>\d+);/,
    "wraps",
  ],
  [/^(?<field>\S+) (?<written>\S+) is (?<low>\d+) alone/, "alone"],
  [/^a month without a day (?<day>\d+) is passed over/, "dates"],
  [/^a month without a day (?<day>\d+) has no run for it/, "some_dates"],
  [/^its next run is on (?<day>[\d-]+),/, "late"],
  [/^the dates of calendar (?<name>.+) end on (?<day>[\d-]+):/, "ending"],
  [/^except_at (?<written>\S+) excludes nothing/, "needless"],
  [/^croniter agrees, changes of the clocks aside$/, "agrees"],
  [/^croniter disagrees$/, "disagrees"],
  [/^not asked, since croniter does not know W and L-n$/, "not_nearest"],
  [/^not asked, since croniter reads the L and # of a weekday /, "not_beside"],
  [/^not asked, since croniter ends FRI\/2 on Saturday/, "not_step"],
  [/^not asked, since croniter reads a range /, "not_range"],
] as const;

export function Surprises({ notes }: { notes: string[] }) {
  if (notes.length === 0) return null;
  return (
    <Part title={say("surprises")}>
      <ul class="surprises">
        {notes.map((each) => (
          <li key={each}>
            <Sentence text={each} />
          </li>
        ))}
      </ul>
    </Part>
  );
}

/** What croniter thinks, for the list of facts; nothing of what is no cron expression. */
export function Opinion({ preview }: { preview: Preview }) {
  if (!preview.second_opinion) return null;
  return (
    <>
      <dt>{say("opinion")}</dt>
      <dd>
        <Sentence text={preview.second_opinion} />
        {preview.disagreements.map((each) => (
          <p key={each} lang="en">
            <small>{each}</small>
          </p>
        ))}
      </dd>
    </>
  );
}

export function Sentence({ text }: { text: string }) {
  for (const [pattern, word] of SENTENCES) {
    const found = pattern.exec(text);
    if (found) return <>{say(word, found.groups)}</>;
  }
  return <span lang="en">{text}</span>;
}
