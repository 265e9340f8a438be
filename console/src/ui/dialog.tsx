// A form in a dialog. It shows the API's errors beside their fields and stays open until it succeeds or is
// closed.

import { cloneElement, type ComponentChildren, type VNode } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { refreshAll } from "../query";
import { Problem, UNREACHABLE } from "../problem";
import { say } from "../words/shared";
import { explained } from "./states";
import { type Result, toldOf } from "./toasts";

/** What is wrong with a field, by its name. */
export type Flaws = Record<string, string>;

/** Something that the page itself finds wrong with fields, before the API is asked. */
export class Unusable extends Error {
  constructor(readonly flaws: Flaws) {
    super(Object.values(flaws).join(" "));
  }
}

interface DialogProps {
  title: string;
  /** What the button says that does it. */
  go: string;
  isDanger?: boolean;
  run: (form: FormData) => Promise<Result>;
  /** The fields of a problem whose errors are not listed by field. */
  place?: (problem: Problem) => Flaws;
  /** The fields that show their own flaws; the form lists other flaws above them. */
  fields?: string[];
  close: () => void;
  children: ComponentChildren | ((flaws: Flaws) => ComponentChildren);
}

/**
 * What will happen, and the fields for what else must be known; it is there from being made until it closes.
 */
export function Dialog({ title, go, isDanger, run, place, fields = [], close, children }: DialogProps) {
  const [isBusy, setBusy] = useState(false);
  const [flaws, setFlaws] = useState<Flaws>({});
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);

  const submit = async (form: FormData) => {
    setBusy(true);
    setFlaws({});
    setTrouble(null);
    try {
      toldOf(await run(form));
      dialog.current?.close();
    } catch (error) {
      const found = flawsOf(error, place);
      setFlaws(found);
      if (!fields.some((each) => found[each])) setTrouble(troubleOf(error, found));
    } finally {
      setBusy(false);
      refreshAll();
    }
  };

  return (
    <dialog ref={dialog} class="ask" aria-label={title} onClose={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void submit(new FormData(event.currentTarget));
        }}
      >
        <h2>{title}</h2>
        {trouble && (
          <div class="state is-problem" role="alert">
            <p class="state-title">{trouble.title}</p>
            {trouble.why !== trouble.title && <p>{trouble.why}</p>}
          </div>
        )}
        {typeof children === "function" ? children(flaws) : children}
        <div class="ask-end">
          <button type="button" onClick={() => dialog.current?.close()}>
            {say("cancel")}
          </button>
          <button type="submit" class={`act is-${isDanger ? "danger" : "main"}`} disabled={isBusy}>
            {isBusy ? say("working") : go}
          </button>
        </div>
      </form>
    </dialog>
  );
}

interface FormDialogProps<T> extends Pick<DialogProps, "title" | "go" | "place"> {
  /** Of the button that opens it. */
  label: string;
  kind?: "plain" | "main" | "danger" | "quiet";
  /** What the form is filled over: `run` is given it as it was when the dialog was opened. */
  over: T;
  run: (form: FormData, over: T) => Promise<Result>;
  fields: string[];
  children: (flaws: Flaws, over: T) => ComponentChildren;
}

/** A button whose dialog is filled over something that may change meanwhile. */
export function FormDialog<T>({ label, kind = "plain", over, run, children, ...form }: FormDialogProps<T>) {
  const [opened, setOpened] = useState<{ over: T } | null>(null);
  return (
    <>
      <button type="button" class={`act is-${kind}`} onClick={() => setOpened({ over })}>
        {label}
      </button>
      {opened && (
        <Dialog
          {...form}
          isDanger={kind === "danger"}
          run={(said) => run(said, opened.over)}
          close={() => setOpened(null)}
        >
          {(flaws) => children(flaws, opened.over)}
        </Dialog>
      )}
    </>
  );
}

function flawsOf(error: unknown, place?: (problem: Problem) => Flaws): Flaws {
  if (error instanceof Unusable) return error.flaws;
  if (!(error instanceof Problem)) return {};
  const byField = Object.fromEntries(error.errors.map((each) => [each.where, each.problem]));
  return { ...byField, ...place?.(error) };
}

interface Trouble {
  title: string;
  why: string;
}

/** The problem of the whole request, with the flaws of fields that the form does not show. */
function troubleOf(error: unknown, flaws: Flaws): Trouble {
  const problem = error instanceof Problem ? error : new Problem(UNREACHABLE, "page", "", String(error));
  const { title, why } = explained(problem);
  const named = Object.entries(flaws).map(([field, flaw]) => `${field}: ${flaw}`);
  return { title, why: named.length > 0 ? named.join("; ") : why };
}

interface FlawedProps {
  label: string;
  hint?: string;
  flaw?: string;
  /** The control. */
  children: VNode;
}

/** A field with its label, and what is wrong with what it says. */
export function Flawed({ label, hint, flaw, children }: FlawedProps) {
  const id = useId();
  const describedBy = [hint && `${id}-hint`, flaw && `${id}-flaw`].filter(Boolean).join(" ");
  const control = cloneElement(children, {
    id,
    "aria-describedby": describedBy || undefined,
    "aria-invalid": flaw ? true : undefined,
  });
  return (
    <div class={flaw ? "field is-flawed" : "field"}>
      <label for={id}>{label}</label>
      {control}
      {hint && <small id={`${id}-hint`}>{hint}</small>}
      {flaw && (
        <small id={`${id}-flaw`} class="flaw" role="alert">
          {flaw}
        </small>
      )}
    </div>
  );
}
