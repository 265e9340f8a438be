// The status of an action: a colour, a shape and a word, so that no reader depends on colour.

import { type StatusFilter, status as say } from "../words/shared";

const MARKS: Record<StatusFilter, string> = {
  pending: "○",
  retrying: "↻",
  processing: "◐",
  executed: "✓",
  failed: "✕",
  cancelled: "⊘",
  skipped: "↷",
};

export function StatusBadge({ status, label }: { status: StatusFilter; label?: string }) {
  return (
    <span class={`badge is-${status}`}>
      <span aria-hidden="true">{MARKS[status]}</span> {label ?? say(status)}
    </span>
  );
}
