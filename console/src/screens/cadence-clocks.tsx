// What a change of the clocks did to a time, by a mark and in the page's words; the API's own where it says
// it otherwise.

import type { Schemas } from "../api";
import { say } from "./cadences.words";

type Previewed = Schemas["PreviewedView"];

const MARKS: Record<string, string> = { moved: "→", skipped: "⊘", doubled: "2×", once: "1×" };

const NOTES = [
  [/^moved: (.+?)(?: \(\d+ times\))? did not exist, the clocks went forward to (.+)$/, "note_moved"],
  [/^skipped: (.+?)(?: \(\d+ times\))? did not exist, the clocks went forward to (.+)$/, "note_skipped"],
  [/^doubled: (.+) comes twice, this is the first pass$/, "note_first"],
  [/^doubled: (.+) came twice, this is the second pass$/, "note_second"],
  [/^once: (.+) comes twice, and only the first pass runs$/, "note_once"],
] as const;

export function ClockMark({ each }: { each: Previewed }) {
  const mark = each.mark ?? "";
  return (
    <span>
      <span class={`badge clock-${mark}`}>
        <span aria-hidden="true">{MARKS[mark]}</span> {named(mark)}
      </span>{" "}
      <Note text={each.note} />
    </span>
  );
}

function named(mark: string): string {
  if (mark === "moved" || mark === "skipped" || mark === "doubled" || mark === "once") return say(mark);
  return mark;
}

function Note({ text }: { text: string }) {
  for (const [pattern, word] of NOTES) {
    const found = pattern.exec(text);
    if (found)
      return <small>{say(word, { time: (found[1] ?? "").replace(" to ", "–"), to: found[2] ?? "" })}</small>;
  }
  return <small lang="en">{text}</small>;
}
