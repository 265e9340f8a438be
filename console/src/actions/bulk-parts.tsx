// The parts of the bulk dialog: the selection, the progress and the result.

import { Time } from "../time";
import { StatusBadge } from "../ui/status";
import { number } from "../words";
import type { StatusFilter } from "../words/shared";
import type { BulkKind, Found, Progress } from "./bulk";
import { say } from "./bulk.words";
import { say as sayFilter } from "./filters.words";
import { bounded, shortId } from "./shown";

interface CountedProps {
  kind: BulkKind;
  found: Found;
  /** Whether filters mean them, which may include runs of jobs and later actions. */
  byFilters: boolean;
}

export function Counted({ kind, found, byFilters }: CountedProps) {
  if (found.n === 0) return <p>{say(found.isMore ? "none_yet" : `none_${kind}`)}</p>;
  const types = Object.entries(found.types).sort(([, a], [, b]) => b - a);
  return (
    <>
      <p>
        <strong>{say(found.isMore ? "count_more" : "count", { n: found.n })}</strong> {say(`will_${kind}`)}
      </p>
      {byFilters && (
        <p>
          {sayFilter(found.includesRuns ? "with_runs" : "without_runs")} {say("later")}
        </p>
      )}
      <ul class="tallies">
        {Object.entries(found.statuses).map(([each, n]) => (
          <li key={each}>
            <StatusBadge status={each as StatusFilter} /> {number(n)}
          </li>
        ))}
        {types.map(([each, n]) => (
          <li key={each}>
            <span class="chip">{each}</span> {number(n)}
          </li>
        ))}
      </ul>
      <p class="muted">{say("examples")}</p>
      <ul class="examples">
        {found.examples.map((each) => (
          <li key={each.id}>
            <span class="mono" title={each.id}>
              {shortId(each.id)}
            </span>{" "}
            {each.type} {each.correlation_id && <bdi class="mono">{bounded(each.correlation_id)}</bdi>}{" "}
            <Time at={each.due_at} />
          </li>
        ))}
      </ul>
      {kind === "cancel" && <p class="muted">{say("final")}</p>}
      {kind === "redrive" && found.n > 1 && <p class="muted">{say("staged")}</p>}
    </>
  );
}

export function Doing({ kind, found, progress }: { kind: BulkKind; found: Found; progress: Progress }) {
  const n = progress.changed + progress.left.length;
  const of = { done: n, all: found.n };
  return (
    <>
      <p>{say(found.isMore ? "doing_more" : "doing", of)}</p>
      <progress max={Math.max(found.n, n, 1)} value={n} aria-label={say(`title_${kind}`)} />
    </>
  );
}

export function Result({
  kind,
  progress,
  isStopped,
}: {
  kind: BulkKind;
  progress: Progress;
  isStopped: boolean;
}) {
  const reasons = new Map<string, string[]>();
  for (const { id, reason } of progress.left) {
    const generic = reason.replaceAll(id, "…");
    reasons.set(generic, [...(reasons.get(generic) ?? []), id]);
  }
  return (
    <>
      {isStopped && <p>{say("stopped")}</p>}
      <p>
        <strong>{say(`done_${kind}`, { n: progress.changed })}</strong>
      </p>
      {reasons.size > 0 && (
        <>
          <p>{say("left", { n: progress.left.length })}</p>
          <ul class="examples">
            {[...reasons].map(([reason, ids]) => (
              <li key={reason}>
                {number(ids.length)} × {reason}{" "}
                <span class="mono muted" title={ids.slice(0, 20).join("\n")}>
                  {ids.slice(0, 3).map(shortId).join(", ")}
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}
