// How one attempt ended: a mark, a word and a colour, so that no reader depends on colour.

import { say } from "./history.words";

const TONES = {
  running: ["◐", "is-processing"],
  lost: ["!", "is-cancelled"],
  executed: ["✓", "is-executed"],
  retry: ["↻", "is-pending"],
  continued: ["→", "is-processing"],
  failed: ["✕", "is-failed"],
  cancelled: ["⊘", "is-cancelled"],
} as const;

export function shown(outcome: string): { text: string; tone: string } {
  if (!(outcome in TONES)) return { text: outcome, tone: "is-pending" };
  const known = outcome as keyof typeof TONES;
  const [mark, tone] = TONES[known];
  return { text: `${mark} ${say(`ended_${known}`)}`, tone };
}
