// A button that changes something. It says first what will happen where that is not plain or cannot be taken back.

import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { say } from "../words/shared";
import { change, type Result } from "./toasts";

interface ActProps {
  label: ComponentChildren;
  /** What a screen reader says, where the label alone does not tell of what. */
  name?: string;
  /** Does it, and tells what was done. */
  run: (form: FormData) => Promise<Result>;
  /** What will happen, and what else must be known: then it is asked before. May hold fields of a form. */
  ask?: { title: string; body: ComponentChildren; go: string };
  kind?: "plain" | "main" | "danger" | "quiet";
  /** Makes it a switch, which stands so. */
  isOn?: boolean;
  disabled?: boolean;
}

export function Act({ label, name, run, ask, kind = "plain", isOn, disabled }: ActProps) {
  const [isBusy, setBusy] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const dialog = useRef<HTMLDialogElement>(null);

  const act = async (form: FormData) => {
    setBusy(true);
    const isDone = await change(() => run(form));
    setBusy(false);
    if (isDone) dialog.current?.close();
  };

  const open = () => {
    setAsking(true);
    requestAnimationFrame(() => dialog.current?.showModal());
  };

  return (
    <>
      <button
        type="button"
        class={`act is-${kind}`}
        disabled={disabled || isBusy}
        aria-label={name}
        role={isOn === undefined ? undefined : "switch"}
        aria-checked={isOn}
        onClick={() => (ask ? open() : void act(new FormData()))}
      >
        {isBusy && !ask && isOn === undefined ? say("working") : label}
      </button>
      {ask && isAsking && (
        <dialog ref={dialog} class="ask" aria-label={ask.title} onClose={() => setAsking(false)}>
          <form
            onSubmit={(event) => {
              event.preventDefault();
              void act(new FormData(event.currentTarget));
            }}
          >
            <h2>{ask.title}</h2>
            {ask.body}
            <div class="ask-end">
              <button type="button" onClick={() => dialog.current?.close()}>
                {say("cancel")}
              </button>
              <button
                type="submit"
                class={`act is-${kind === "danger" ? "danger" : "main"}`}
                disabled={isBusy}
              >
                {isBusy ? say("working") : ask.go}
              </button>
            </div>
          </form>
        </dialog>
      )}
    </>
  );
}

interface FieldProps {
  label: string;
  hint?: string;
  children: ComponentChildren;
}

/** A field of a form with its label; the label holds the field, so that they belong together. */
export function Field({ label, hint, children }: FieldProps) {
  return (
    <label class="field">
      <span>{label}</span>
      {children}
      {hint && <small>{hint}</small>}
    </label>
  );
}
