// Days of a month, or hours of a day, as cells with what they count. One is reached by Tab, the others by
// arrow keys.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { number } from "../../words";
import { type Counts, GROUPS, type Group } from "./accounts";
import { say } from "./calendar.words";

export const MARKS: Record<Group, string> = {
  executed: "✓",
  failed: "✕",
  skipped: "↷",
  missed: "!",
  coming: "○",
};

export interface Cell {
  key: string;
  /** What the cell shows: the day's number, the hour. */
  label: string;
  /** What it is in full, for who does not see where it stands. */
  name: string;
  counts?: Counts;
  isNow: boolean;
}

interface CellsProps {
  label: string;
  cells: Cell[];
  columns: number;
  /** Above the columns. */
  heads?: string[];
  /** How many places are empty before the first. */
  offset?: number;
  chosen: string;
  /** Cells that are chosen beside that one. */
  isChosen?: (key: string) => boolean;
  choose: (key: string) => void;
  /** The arrow keys lead beyond the cells: so many from this one. Says where to. */
  beyond?: (from: string, step: number) => string;
}

export function Cells(props: CellsProps) {
  const { label, cells, columns, heads, offset = 0, chosen, isChosen, choose, beyond } = props;
  const [moved, setMoved] = useState("");
  const isMoving = useRef(false);
  const grid = useRef<HTMLDivElement>(null);
  const held = [moved, chosen].find((key) => cells.some((each) => each.key === key)) ?? cells[0]?.key;

  useLayoutEffect(() => {
    if (!isMoving.current) return;
    isMoving.current = false;
    grid.current?.querySelector<HTMLElement>("[tabindex='0']")?.focus();
  });

  const press = (event: KeyboardEvent) => {
    const step = stepOf(event.key, columns);
    if (!step || !held) return;
    event.preventDefault();
    const to = cells[cells.findIndex((each) => each.key === held) + step]?.key ?? beyond?.(held, step);
    if (!to) return;
    isMoving.current = true;
    setMoved(to);
  };

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys are those of the buttons within
    <div
      class="cells"
      role="group"
      aria-label={label}
      ref={grid}
      style={{ gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))` }}
      onKeyDown={press}
    >
      {heads?.map((each) => (
        <span class="cells-head" aria-hidden="true" key={each}>
          {each}
        </span>
      ))}
      {cells.map((each, place) => (
        <button
          type="button"
          class="cell"
          key={each.key}
          style={place === 0 && offset ? { gridColumnStart: offset + 1 } : undefined}
          tabIndex={each.key === held ? 0 : -1}
          aria-pressed={each.key === chosen || isChosen?.(each.key) === true}
          aria-current={each.isNow ? "date" : undefined}
          onClick={() => {
            setMoved(each.key);
            choose(each.key);
          }}
        >
          <span class="hidden">{[each.name, describe(each.counts)].join(": ")}</span>
          <span class="cell-label" aria-hidden="true">
            {each.label}
          </span>
          <Marks counts={each.counts} />
        </button>
      ))}
    </div>
  );
}

function Marks({ counts }: { counts?: Counts }) {
  const groups = GROUPS.filter((each) => counts?.[each] !== undefined);
  return (
    <span class="cell-marks" aria-hidden="true">
      {groups.map((each) => {
        const n = counts?.[each];
        return (
          <span class={`mark-of is-${each}`} key={each}>
            {MARKS[each]} {n === null || n === undefined ? "…" : number(n)}
          </span>
        );
      })}
    </span>
  );
}

/** What is counted, in words. */
function describe(counts: Counts | undefined): string {
  if (!counts) return say("uncounted");
  const parts = GROUPS.flatMap((each) => {
    const n = counts[each];
    return n === undefined ? [] : [n === null ? say(`some_${each}`) : say(`n_${each}`, { n })];
  });
  return parts.join(", ") || say("nothing");
}

function stepOf(key: string, columns: number): number {
  const steps: Record<string, number> = {
    ArrowLeft: -1,
    ArrowRight: 1,
    ArrowUp: -columns,
    ArrowDown: columns,
  };
  return steps[key] ?? 0;
}
