// Keep shown data current: poll, with growing pauses on errors, and never in a hidden tab.

import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { now, present } from "./clock";
import { isOld, removeFeed, setFeed } from "./feeds";
import { Problem, UNREACHABLE } from "./problem";

export { now };

export interface Live<T> {
  /** What was answered last; undefined until the first answer. */
  value: T | undefined;
  /** When that was, in milliseconds; 0 before the first answer. */
  at: number;
  /** Why the last question was not answered; the value before it stays. */
  problem: Problem | undefined;
  /** Whether the value is older than two polls. It changes as time passes. */
  isOld: () => boolean;
  /** Asks now. */
  refresh: () => void;
}

const SLOWEST = 60_000;
const changes = signal(0);

/** Everything that is on the page is asked for at once: after a change. */
export function refreshAll(): void {
  changes.value += 1;
}

interface Loaded {
  value: unknown;
  at: number;
}

/** What was loaded last, by its key: a screen that is shown again begins with it. */
const seen = new Map<string, Loaded>();
const MOST_SEEN = 60;

/** Forget what was loaded; after a response that cannot be shown. */
export function forgetSeen(): void {
  seen.clear();
}

function keep(key: string, loaded: Loaded): void {
  seen.delete(key);
  seen.set(key, loaded);
  const [oldest] = seen.keys();
  if (seen.size > MOST_SEEN && oldest !== undefined) seen.delete(oldest);
}

interface State extends Partial<Loaded> {
  key: string;
  problem?: Problem;
}

interface Options {
  /** Whether a screen that is shown again begins with what it showed last. */
  isKept?: boolean;
}

/**
 * Loads, and loads again `every` so many milliseconds after the last answer. It pauses while the tab is
 * hidden, and asks at once when it is seen again; what fails is asked for less and less often, up to a
 * minute, and what is forbidden or gone not again. `key` names what is loaded, on all screens: with another
 * key what was there is forgotten.
 */
export function useLive<T>(
  load: (signal: AbortSignal) => Promise<T>,
  key: string,
  every = 5_000,
  { isKept = true }: Options = {},
): Live<T> {
  const [state, setState] = useState<State>({ key });
  const asking = useRef(load);
  asking.current = load;
  const ask = useRef<() => void>(() => {});
  const changed = changes.value;
  const [feed] = useState(() => Symbol(key));
  const before = (isKept && seen.get(key)) || undefined;

  useEffect(() => () => removeFeed(feed), [feed]);
  useEffect(() => {
    const ended = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let wait = every;
    let isBusy = false;
    let at = (state.key === key ? state.at : before?.at) ?? 0;
    setFeed(feed, { at, every, isFailing: state.key === key && state.problem !== undefined });

    const run = async () => {
      clearTimeout(timer);
      if (isBusy || ended.signal.aborted) return;
      if (document.hidden) return;
      isBusy = true;
      try {
        const value = await asking.current(ended.signal);
        if (ended.signal.aborted) return;
        wait = every;
        at = present();
        const loaded = { value, at };
        if (isKept) keep(key, loaded);
        setState({ key, ...loaded });
        setFeed(feed, { at, every, isFailing: false });
      } catch (error) {
        if (ended.signal.aborted) return;
        const problem =
          error instanceof Problem ? error : new Problem(UNREACHABLE, "page", "", String(error));
        const isFinal = problem.isForbidden || problem.isMissing;
        wait = isFinal ? Number.POSITIVE_INFINITY : Math.min(Math.min(wait, SLOWEST) * 2, SLOWEST);
        if (isFinal) seen.delete(key);
        setState((last) => ({
          ...(isFinal ? { key } : last.key === key ? last : { key, ...before }),
          problem,
        }));
        if (isFinal) removeFeed(feed);
        else setFeed(feed, { at, every, isFailing: true });
      } finally {
        isBusy = false;
        if (Number.isFinite(wait) && !ended.signal.aborted) timer = setTimeout(run, wait);
      }
    };
    const shown = () => {
      if (!document.hidden && Number.isFinite(wait)) void run();
    };

    ask.current = () => void run();
    document.addEventListener("visibilitychange", shown);
    void run();
    return () => {
      ended.abort();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", shown);
    };
  }, [key, every, changed]);

  const current: State = state.key === key ? { ...before, ...state } : { key, ...before };
  const at = current.at ?? 0;
  return {
    value: current.value as T | undefined,
    at,
    problem: current.problem,
    isOld: () => isOld({ at, every }),
    refresh: () => ask.current(),
  };
}
