// How one attempt ended, in words and a colour; a mark stands before the word, so that nobody needs to tell colours apart.

import { say } from "./road.words";

const TONES = {
  running: ["◐", "is-processing"],
  lost: ["!", "is-cancelled"],
  executed: ["✓", "is-executed"],
  retry: ["↻", "is-pending"],
  failed: ["✕", "is-failed"],
  cancelled: ["⊘", "is-cancelled"],
} as const;

export function shown(outcome: string): { text: string; tone: string } {
  if (!(outcome in TONES)) return { text: outcome, tone: "is-pending" };
  const known = outcome as keyof typeof TONES;
  const [mark, tone] = TONES[known];
  return { text: `${mark} ${say(`ended_${known}`)}`, tone };
}
