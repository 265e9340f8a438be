// A form in a dialog: what the API has against it is told where it is, and the dialog stays until it is done or left.

import { cloneElement, type ComponentChildren, type VNode } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { refreshAll } from "../live";
import { Problem, UNREACHABLE } from "../problem";
import { say } from "../words/shared";
import { explained } from "./states";
import { told } from "./toasts";

/** What is wrong with a field, by its name. */
export type Flaws = Record<string, string>;
type Result = string | { text: string; undo?: () => Promise<unknown> };

/** Something that the page itself finds wrong with fields, before the API is asked. */
export class Unusable extends Error {
  constructor(readonly flaws: Flaws) {
    super(Object.values(flaws).join(" "));
  }
}

interface FormDialogProps<T> {
  /** Of the button that opens it. */
  label: string;
  title: string;
  go: string;
  kind?: "plain" | "main" | "danger" | "quiet";
  /** What the form is filled over: `run` is given it as it was when the dialog was opened. */
  over: T;
  run: (form: FormData, over: T) => Promise<Result>;
  /** The fields of which a problem tells, where it is not told field by field. */
  place?: (problem: Problem) => Flaws;
  /** The fields; flaws whose name is none of `fields` are told above them. */
  fields: string[];
  children: (flaws: Flaws, over: T) => ComponentChildren;
}

export function FormDialog<T>({ label, kind = "plain", ...form }: FormDialogProps<T>) {
  const [opened, setOpened] = useState<{ over: T } | null>(null);
  return (
    <>
      <button type="button" class={`act is-${kind}`} onClick={() => setOpened({ over: form.over })}>
        {label}
      </button>
      {opened && <Opened {...form} over={opened.over} close={() => setOpened(null)} />}
    </>
  );
}

type OpenedProps<T> = Omit<FormDialogProps<T>, "label" | "kind"> & { close: () => void };

function Opened<T>({ title, go, over, run, place, fields, children, close }: OpenedProps<T>) {
  const [isBusy, setBusy] = useState(false);
  const [flaws, setFlaws] = useState<Flaws>({});
  const [trouble, setTrouble] = useState<{ title: string; why: string } | null>(null);
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);

  const submit = async (form: FormData) => {
    setBusy(true);
    setFlaws({});
    setTrouble(null);
    try {
      const result = await run(form, over);
      if (typeof result === "string") told(result);
      else told(result.text, result.undo);
      dialog.current?.close();
    } catch (error) {
      const found = flawsOf(error, place);
      setFlaws(found);
      if (!fields.some((each) => found[each])) setTrouble(troubleOf(error));
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
        {children(flaws, over)}
        <div class="ask-end">
          <button type="button" onClick={() => dialog.current?.close()}>
            {say("cancel")}
          </button>
          <button type="submit" class="act is-main" disabled={isBusy}>
            {isBusy ? say("working") : go}
          </button>
        </div>
      </form>
    </dialog>
  );
}

function flawsOf(error: unknown, place?: (problem: Problem) => Flaws): Flaws {
  if (error instanceof Unusable) return error.flaws;
  if (!(error instanceof Problem)) return {};
  const told = Object.fromEntries(error.errors.map((each) => [each.where, each.problem]));
  return { ...told, ...place?.(error) };
}

function troubleOf(error: unknown): { title: string; why: string } {
  return explained(error instanceof Problem ? error : new Problem(UNREACHABLE, "page", "", String(error)));
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
  const told = [hint && `${id}-hint`, flaw && `${id}-flaw`].filter(Boolean).join(" ");
  const control = cloneElement(children, {
    id,
    "aria-describedby": told || undefined,
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
