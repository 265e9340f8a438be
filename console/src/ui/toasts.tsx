// What was done is said, at the foot of the page and to a screen reader; and what can be undone, can be
// undone there.

import { signal } from "@preact/signals";
import { refreshAll } from "../query";
import { Problem } from "../problem";
import { say } from "../words/shared";
import { explained } from "./states";

/** What was done: a text, how it can be undone, and where to see what came of it. */
export type Result =
  string | { text: string; undo?: () => Promise<unknown>; link?: { to: string; text: string } };

interface Toast {
  id: number;
  text: string;
  isProblem: boolean;
  undo?: () => Promise<unknown>;
  link?: { to: string; text: string };
}

const SHOWN_FOR = 12_000;
const toasts = signal<Toast[]>([]);
let last = 0;

function show(toast: Omit<Toast, "id">): void {
  last += 1;
  const id = last;
  toasts.value = [...toasts.value.slice(-3), { ...toast, id }];
  if (!toast.isProblem) setTimeout(() => dismiss(id), SHOWN_FOR);
}

function dismiss(id: number): void {
  toasts.value = toasts.value.filter((each) => each.id !== id);
}

/** Says what was done, how to undo it if it can be, and where to see it. */
export function showToast(text: string, undo?: () => Promise<unknown>, link?: Toast["link"]): void {
  show({ text, isProblem: false, undo, link });
}

/** Says what went wrong. */
export function refused(error: unknown): void {
  if (error instanceof Problem) {
    const { title, why } = explained(error);
    const flaws = error.errors.map((each) => `${each.where}: ${each.problem}`);
    show({ text: [title, why, ...flaws].join(". ").replace(/\.\./g, "."), isProblem: true });
  } else {
    show({ text: error instanceof Error ? error.message : String(error), isProblem: true });
  }
}

/** Says what a change said of itself. */
export function toldOf(result: Result): void {
  if (typeof result === "string") showToast(result);
  else showToast(result.text, result.undo, result.link);
}

/** Changes something: says what was done or what went wrong, and has the page look again. */
export async function change(run: () => Promise<Result>): Promise<boolean> {
  try {
    toldOf(await run());
    return true;
  } catch (error) {
    refused(error);
    return false;
  } finally {
    refreshAll();
  }
}

export function Toasts() {
  return (
    <section class="toasts" aria-live="polite" aria-label={say("done")}>
      {toasts.value.map((each) => (
        <div
          key={each.id}
          class={each.isProblem ? "toast is-problem" : "toast"}
          role={each.isProblem ? "alert" : undefined}
        >
          <p>
            {each.text} {each.link && <a href={each.link.to}>{each.link.text}</a>}
          </p>
          {each.undo && (
            <button
              type="button"
              onClick={() => {
                dismiss(each.id);
                void change(async () => {
                  await each.undo?.();
                  return say("undone");
                });
              }}
            >
              {say("undo")}
            </button>
          )}
          <button type="button" class="quiet" aria-label={say("close")} onClick={() => dismiss(each.id)}>
            ×
          </button>
        </div>
      ))}
    </section>
  );
}
