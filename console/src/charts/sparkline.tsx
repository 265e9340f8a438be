// The last runs of a job as bars, the newest at the right: how high says how long it took, the colour how it
// ended. A failed one has a cross above it, one that did not run is a hollow stub, so that no reader depends
// on colour.

import { now } from "../clock";
import { brief, span } from "../time";
import { type Status, status as say } from "../words/shared";
import { mine } from "./sparkline.words";

/** A run, as far as its bar shows it. */
export interface RunMark {
  id: string;
  status: Status;
  nominal_at: string;
  started_at: string | null;
  finished_at: string | null;
}

interface SparklineProps {
  /** The newest first, as the API returns them. */
  runs: RunMark[];
  /** Whose runs these are: begins what a screen reader says. */
  label: string;
  /** How many bars have room. */
  room?: number;
}

const STEP = 5;
const WIDE = 4;
const HIGH = 20;
const ABOVE = 6;
const STUB = 3;
const SHORTEST = 10;
const LONGEST = 900_000;

export function Sparkline({ runs, label, room = 20 }: SparklineProps) {
  const shown = runs.slice(0, room);
  const width = room * STEP;
  return (
    <svg
      class="spark"
      role="img"
      aria-label={gist(shown, label)}
      width={width}
      height={HIGH + ABOVE}
      viewBox={`0 0 ${width} ${HIGH + ABOVE}`}
    >
      <line class="axis" x1="0" x2={width} y1={HIGH + ABOVE - 0.5} y2={HIGH + ABOVE - 0.5} />
      {shown.map((run, place) => (
        <Bar run={run} x={width - (place + 1) * STEP + (STEP - WIDE) / 2} key={run.id} />
      ))}
    </svg>
  );
}

function Bar({ run, x }: { run: RunMark; x: number }) {
  const took = length(run);
  const high = took === null ? STUB : height(took);
  const top = HIGH + ABOVE - high;
  const arm = WIDE / 2;
  const y = top - arm - 2;
  return (
    <g class={`is-${run.status}`}>
      <title>{describe(run, took)}</title>
      <rect
        class={took === null ? "is-hollow" : run.status === "processing" ? "is-open" : undefined}
        x={x}
        y={top}
        width={WIDE}
        height={high}
      />
      {run.status === "failed" && (
        <path
          class="cross"
          d={`M${x} ${y - arm}l${WIDE} ${WIDE}m0 ${-WIDE}l${-WIDE} ${WIDE}`}
          aria-hidden="true"
        />
      )}
    </g>
  );
}

/** How long it ran, in milliseconds; what runs, until now. Null for what never began. */
function length(run: RunMark): number | null {
  if (run.started_at === null) return null;
  const end = run.finished_at === null ? now.value : Date.parse(run.finished_at);
  return Math.max(end - Date.parse(run.started_at), 1);
}

/** From ten milliseconds to a quarter of an hour, each tenfold as much higher as the one before. */
function height(took: number): number {
  const held = Math.min(Math.max(took, SHORTEST), LONGEST);
  const share = Math.log(held / SHORTEST) / Math.log(LONGEST / SHORTEST);
  return STUB + 1 + share * (HIGH - STUB - 1);
}

function describe(run: RunMark, took: number | null): string {
  const status = say(run.status);
  const how = took === null ? status : mine("for", { status, span: span(took) });
  return `${brief(run.nominal_at)} · ${how}`;
}

function gist(runs: RunMark[], label: string): string {
  const newest = runs[0];
  if (!newest) return mine("none", { label });
  const failed = runs.filter((each) => each.status === "failed").length;
  return mine("gist", { n: runs.length, label, failed, status: say(newest.status) });
}
