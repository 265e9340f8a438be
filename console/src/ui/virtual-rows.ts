// Rows of a long table, of which only those near the window are in the page: TanStack Virtual decides which.

import {
  defaultRangeExtractor,
  observeWindowOffset,
  observeWindowRect,
  type VirtualItem,
  Virtualizer,
  windowScroll,
} from "@tanstack/virtual-core";
import { useLayoutEffect, useReducer, useRef, useState } from "preact/hooks";

/** Pixels of a row that was not measured yet, and the rows beside the window that are in the page. */
const ESTIMATED = 72;
const BESIDE = 8;

export interface VirtualRows {
  rows: VirtualItem[];
  /** Pixels of all rows together, and of what is above them on the page. */
  height: number;
  above: number;
  isScrolling: boolean;
  /** The ref of the table's body; each row in it has `data-index` and the ref `measure`. */
  body: { current: HTMLTableSectionElement | null };
  measure: (row: HTMLElement | null) => void;
}

/** The heights of the rows of each table that was left: the way back finds them where they were. */
const measured = new Map<string, VirtualItem[]>();

/**
 * Return which of so many rows are to be in the page; that with the focus stays in it. `table` names the table,
 * on all screens.
 */
export function useVirtualRows(table: string, count: number, keyOf: (index: number) => string): VirtualRows {
  const [, redraw] = useReducer<number, void>((drawn) => drawn + 1, 0);
  const body = useRef<HTMLTableSectionElement>(null);
  const [above, setAbove] = useState(0);
  const options = {
    count,
    getItemKey: keyOf,
    getScrollElement: () => window,
    estimateSize: () => ESTIMATED,
    observeElementRect: observeWindowRect,
    observeElementOffset: observeWindowOffset,
    scrollToFn: windowScroll,
    scrollMargin: above,
    initialRect: { width: innerWidth, height: innerHeight },
    initialMeasurementsCache: measured.get(table) ?? [],
    overscan: BESIDE,
    onChange: () => redraw(),
    rangeExtractor: (range: Parameters<typeof defaultRangeExtractor>[0]) => {
      const focused = document.activeElement?.closest<HTMLElement>("[data-index]");
      const kept = focused && body.current?.contains(focused) ? Number(focused.dataset.index) : -1;
      const near = defaultRangeExtractor(range);
      return kept < 0 || kept >= count || near.includes(kept) ? near : [...near, kept].sort((a, b) => a - b);
    },
  };
  const [virtualizer] = useState(() => new Virtualizer<Window, HTMLElement>(options));
  virtualizer.setOptions(options);
  useLayoutEffect(() => {
    const leave = virtualizer._didMount();
    return () => {
      measured.set(table, virtualizer.measurementsCache);
      leave();
    };
  }, [virtualizer]);
  useLayoutEffect(() => {
    virtualizer._willUpdate();
    const top = body.current ? Math.round(body.current.getBoundingClientRect().top + scrollY) : 0;
    if (top !== above) setAbove(top);
  });
  return {
    rows: virtualizer.getVirtualItems(),
    height: virtualizer.getTotalSize(),
    above,
    isScrolling: virtualizer.isScrolling,
    body,
    measure: virtualizer.measureElement,
  };
}
