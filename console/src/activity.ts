// Whether the page is used: data of a page that is only looked at are loaded less often.

/** Milliseconds without input after which the page is idle. */
const IDLE_AFTER = 20_000;
const INPUTS = ["pointerdown", "pointermove", "keydown", "wheel", "touchstart", "focus"];

let usedAt = Date.now();
const listeners: (() => void)[] = [];

/** Whether the page has had no input for a while. */
export const isIdle = () => Date.now() - usedAt > IDLE_AFTER;

/** Call this when an idle page is used again. */
export const onReturn = (listener: () => void) => listeners.push(listener);

for (const input of INPUTS) {
  addEventListener(
    input,
    () => {
      const wasIdle = isIdle();
      usedAt = Date.now();
      if (wasIdle) for (const listener of listeners) listener();
    },
    { capture: true, passive: true },
  );
}
