// Keep shown data current: poll, with growing pauses on errors, and never in a hidden tab.

import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { Problem, UNREACHABLE } from "./problem";

export interface Live<T> {
  /** What was answered last; undefined until the first answer. */
  value: T | undefined;
  /** Why the last question was not answered; the value before it stays. */
  problem: Problem | undefined;
  /** Asks now. */
  refresh: () => void;
}

const SLOWEST = 60_000;
const changes = signal(0);

/** Everything that is on the page is asked for at once: after a change. */
export function refreshAll(): void {
  changes.value += 1;
}

/** The page's state of being kept up to date, for its header: when it last was, and whether it cannot be. */
export const updated = signal<{ at: number; isFailing: boolean }>({ at: 0, isFailing: false });

/**
 * Loads, and loads again `every` so many milliseconds after the last answer. It pauses while the tab is
 * hidden, and asks at once when it is seen again; what fails is asked for less and less often, up to a
 * minute, and what is forbidden or gone not again. `key` says what is asked for: with another one what was
 * there is forgotten.
 */
export function useLive<T>(load: (signal: AbortSignal) => Promise<T>, key: string, every = 5_000): Live<T> {
  const [state, setState] = useState<{ key: string; value?: T; problem?: Problem }>({ key });
  const asking = useRef(load);
  asking.current = load;
  const ask = useRef<() => void>(() => {});
  const changed = changes.value;

  useEffect(() => {
    const ended = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let wait = every;
    let isBusy = false;

    const run = async () => {
      clearTimeout(timer);
      if (isBusy || ended.signal.aborted) return;
      if (document.hidden) return;
      isBusy = true;
      try {
        const value = await asking.current(ended.signal);
        if (ended.signal.aborted) return;
        wait = every;
        setState({ key, value });
        updated.value = { at: Date.now(), isFailing: false };
      } catch (error) {
        if (ended.signal.aborted) return;
        const problem =
          error instanceof Problem ? error : new Problem(UNREACHABLE, "page", "", String(error));
        const isFinal = problem.isForbidden || problem.isMissing;
        wait = isFinal ? Number.POSITIVE_INFINITY : Math.min(wait * 2, SLOWEST);
        setState((before) => ({ ...(before.key === key && !isFinal ? before : { key }), problem }));
        if (!isFinal) updated.value = { ...updated.value, isFailing: true };
      } finally {
        isBusy = false;
        if (Number.isFinite(wait) && !ended.signal.aborted) timer = setTimeout(run, wait);
      }
    };
    const seen = () => {
      if (!document.hidden && Number.isFinite(wait)) void run();
    };

    ask.current = () => void run();
    document.addEventListener("visibilitychange", seen);
    void run();
    return () => {
      ended.abort();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", seen);
    };
  }, [key, every, changed]);

  const current = state.key === key ? state : { key };
  return { value: current.value, problem: current.problem, refresh: () => ask.current() };
}

/** The reader's clock, to the second, for countdowns; it stops in a hidden tab. */
export const now = signal(Date.now());
setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, 1_000);
