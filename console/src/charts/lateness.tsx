// How late runs began: a bar for each range of lateness, with its count.

import { span } from "../time";
import { number } from "../words";
import { mine } from "./lateness.words";

/** How many runs began up to so many seconds late, and later than the range before. */
export interface LatenessRange {
  /** Null for any longer lateness. */
  up_to: number | null;
  count: number;
}

export function Lateness({ ranges }: { ranges: LatenessRange[] }) {
  const total = ranges.reduce((all, each) => all + each.count, 0);
  const most = Math.max(1, ...ranges.map((each) => each.count));
  return (
    <figure class="figure-chart">
      <table class="ranges">
        <caption class="hidden">{mine("gist", { n: total })}</caption>
        <tbody>
          {ranges.map((each, place) => (
            <tr key={each.up_to}>
              <th scope="row">{rangeName(ranges, place)}</th>
              <td>
                <span
                  class={`range-bar ${isLate(each) ? "is-late" : ""}`}
                  style={{ width: share(each.count, most) }}
                />
              </td>
              <td class="range-count">{number(each.count)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}

/** The range that half of the runs, or another share of them, do not exceed; undefined without runs. */
export function within(ranges: LatenessRange[], part: number): LatenessRange | undefined {
  const total = ranges.reduce((all, each) => all + each.count, 0);
  let counted = 0;
  return ranges.find((each) => {
    counted += each.count;
    return each.count > 0 && counted >= total * part;
  });
}

export function rangeName(ranges: LatenessRange[], place: number): string {
  const bound = ranges[place]?.up_to;
  if (bound != null) return mine("up_to", { span: span(bound * 1_000) });
  return mine("over", { span: span((ranges[place - 1]?.up_to ?? 0) * 1_000) });
}

const LATE = 60;

function isLate({ up_to }: LatenessRange): boolean {
  return up_to === null || up_to > LATE;
}

function share(count: number, most: number): string {
  return count === 0 ? "0" : `max(2px, ${((count / most) * 100).toFixed(2)}%)`;
}
