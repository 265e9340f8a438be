// How far a batch is: one bar whose parts are the ends of its members. What is left is empty.

import { number } from "../words";
import { say } from "../screens/batches.words";
import type { Batch } from "../screens/batches.data";
import { percent } from "./axis";

const PARTS = ["executed", "failed", "ended"] as const;
const HIGH = 12;

export function BatchBar({ batch }: { batch: Batch }) {
  const counts = { executed: batch.executed, failed: batch.failed, ended: batch.cancelled + batch.skipped };
  const most = Math.max(batch.size, 1);
  const gist = batch.counted_at === null ? shareText(batch) : say("gist", { ...counts, left: batch.left });
  let from = 0;
  return (
    <div class="batch-bar">
      <svg
        height={HIGH}
        role="progressbar"
        aria-label={batch.name}
        aria-valuemin={0}
        aria-valuemax={batch.size}
        aria-valuenow={batch.size - batch.left}
        aria-valuetext={gist}
      >
        <title>{gist}</title>
        <rect class="batch-left" width="100%" height={HIGH} />
        {PARTS.map((part) => {
          const x = from;
          from += counts[part] / most;
          return (
            counts[part] > 0 && (
              <rect
                key={part}
                class={`batch-${part}`}
                x={percent(x)}
                width={percent(counts[part] / most)}
                height={HIGH}
              />
            )
          );
        })}
      </svg>
      <span class="batch-share">{shareText(batch)}</span>
    </div>
  );
}

/** The share of final members, rounded down: only a batch whose members are all final shows 100. */
function shareText({ left, size, counted_at }: Batch): string {
  if (size === 0) return say("no_member");
  if (counted_at === null) return say("uncounted", { n: size });
  const share = number(Math.floor((100 * (size - left)) / size));
  return say("share", { share, of: number(size) });
}
