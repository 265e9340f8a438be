// A button that changes something. It says first what will happen where that is not plain or cannot be
// undone.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { say } from "../words/shared";
import { Dialog, type Flaws } from "./dialog";
import { change, type Result } from "./toasts";

interface ActProps {
  label: ComponentChildren;
  /** The label for screen readers, if the visible label does not name its object. */
  name?: string;
  /** Does it, and returns what was done. */
  run: (form: FormData) => Promise<Result>;
  /** What will happen, and what else must be known: then it is asked before. May hold fields of a form. */
  ask?: {
    title: string;
    body: ComponentChildren | ((flaws: Flaws) => ComponentChildren);
    go: string;
    /** The fields of the body that show what is wrong with them. */
    fields?: string[];
  };
  kind?: "plain" | "main" | "danger" | "quiet";
  /** Makes it a switch, which stands so. */
  isOn?: boolean;
  disabled?: boolean;
}

export function Act({ label, name, run, ask, kind = "plain", isOn, disabled }: ActProps) {
  const [isBusy, setBusy] = useState(false);
  const [isAsking, setAsking] = useState(false);

  const act = async () => {
    setBusy(true);
    await change(() => run(new FormData()));
    setBusy(false);
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
        onClick={() => (ask ? setAsking(true) : void act())}
      >
        {isBusy && isOn === undefined ? say("working") : label}
      </button>
      {ask && isAsking && (
        <Dialog
          title={ask.title}
          go={ask.go}
          fields={ask.fields}
          isDanger={kind === "danger"}
          run={run}
          close={() => setAsking(false)}
        >
          {ask.body}
        </Dialog>
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

interface TypedProps {
  /** The present choice. */
  text: string;
  choose: (text: string) => void;
  /** Its lowest and highest number; without them, `type` is a text or a date. */
  range?: [number, number];
  type?: "text" | "date";
}

/** A field whose text is a choice once it is left or Enter is pressed. Data that arrives meanwhile keeps it. */
export function Typed({ text, choose, range, type = "text" }: TypedProps) {
  const [typed, setTyped] = useState(text);
  useEffect(() => setTyped(text), [text]);
  const field = {
    value: typed,
    onInput: (event: { currentTarget: HTMLInputElement }) => setTyped(event.currentTarget.value),
    onChange: (event: { currentTarget: HTMLInputElement }) => choose(event.currentTarget.value),
  };
  if (range) return <input type="number" min={range[0]} max={range[1]} {...field} />;
  return type === "date" ? <input type="date" {...field} /> : <input {...field} />;
}
