// Changes many actions: says first how many and which, then does it where one can watch and stop it.

import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { refreshAll } from "../query";
import { Problem, UNREACHABLE } from "../problem";
import { Failure } from "../ui/states";
import { say as sayShared } from "../words/shared";
import { type Bulk, type BulkKind, type Found, nothing, type Progress } from "./bulk";
import { say } from "./bulk.words";
import { FilterWords } from "./filter-words";
import { Counted, Doing, Result } from "./bulk-parts";
import { inStages, type Staging } from "./staged";
import { Stages } from "./staged-parts";

interface BulkButtonProps {
  label: string;
  kind: BulkKind;
  name?: string;
  /** What is meant; made when the dialog is opened. */
  make: () => Bulk;
}

/** What the dialog is about; it outlives the button, since what it changes may leave the list. */
const opened = signal<Bulk | null>(null);

export function BulkButton({ label, kind, name, make }: BulkButtonProps) {
  return (
    <button
      type="button"
      class={`act ${kind === "cancel" ? "is-danger" : "is-plain"}`}
      aria-label={name}
      onClick={() => {
        opened.value = make();
      }}
    >
      {label}
    </button>
  );
}

/** Where the dialog is: once on a screen that has such buttons. */
export function BulkPlace() {
  const bulk = opened.value;
  const close = () => {
    opened.value = null;
  };
  useEffect(() => close, []);
  return bulk && <BulkDialog bulk={bulk} close={close} />;
}

type Phase = "counting" | "counted" | "changing" | "stopped" | "done";

function BulkDialog({ bulk, close }: { bulk: Bulk; close: () => void }) {
  const [phase, setPhase] = useState<Phase>("counting");
  const [found, setFound] = useState<Found>(nothing());
  const [progress, setProgress] = useState<Progress>({ changed: 0, left: [] });
  const [problem, setProblem] = useState<Problem | null>(null);
  const [staging, setStaging] = useState<Staging | null>(null);
  const stages = useRef(bulk.take && inStages(bulk.take));
  const dialog = useRef<HTMLDialogElement>(null);
  const isStopped = useRef(false);

  /** Runs the steps until the end, until the operator stops them, or until one fails. */
  async function follow<T>(steps: AsyncGenerator<T>, show: (step: T) => void, end: Phase, cut: Phase) {
    isStopped.current = false;
    setProblem(null);
    try {
      for await (const each of steps) {
        show(each);
        if (isStopped.current) return setPhase(cut);
      }
      setPhase(end);
    } catch (error) {
      setProblem(error instanceof Problem ? error : new Problem(UNREACHABLE, "page", "", String(error)));
      setPhase(cut);
    }
  }

  const count = () => {
    setPhase("counting");
    void follow(bulk.count(), setFound, "counted", "counted");
  };
  const change = () => {
    setPhase("changing");
    void follow(bulk.change(), setProgress, "done", "stopped").then(refreshAll);
  };
  const changeInStages = () => {
    const steps = stages.current?.();
    if (!steps) return;
    setPhase("changing");
    setStaging((before) => before ?? { stages: [], end: null });
    void follow(steps, setStaging, "done", "stopped").then(refreshAll);
  };
  const stop = () => {
    isStopped.current = true;
  };

  useEffect(() => {
    dialog.current?.showModal();
    count();
    return stop;
  }, []);

  const title = say(`title_${bulk.kind}`);
  const isBusy = phase === "counting" || phase === "changing";
  const isOver = phase === "done" || (phase === "counted" && (found.n === 0 || problem !== null));
  return (
    <dialog ref={dialog} class="ask bulk" aria-label={title} onClose={close}>
      <h2>{title}</h2>
      <div class="bulk-body" aria-live="polite">
        {bulk.about ? <p>{bulk.about}</p> : <FilterWords filters={bulk.filters} error={bulk.error} />}
        {phase === "counting" && <p>{say("counting")}</p>}
        {phase === "counted" && !problem && (
          <Counted kind={bulk.kind} found={found} byFilters={bulk.about === undefined} />
        )}
        {staging && <Stages staging={staging} isStopped={phase === "stopped"} />}
        {phase === "changing" && !staging && <Doing kind={bulk.kind} found={found} progress={progress} />}
        {(phase === "stopped" || phase === "done") && !staging && (
          <Result kind={bulk.kind} progress={progress} isStopped={phase === "stopped"} />
        )}
        {problem && <Failure problem={problem} />}
      </div>
      <div class="ask-end">
        {isBusy ? (
          <button type="button" onClick={stop}>
            {say("stop")}
          </button>
        ) : (
          <button type="button" onClick={() => dialog.current?.close()}>
            {isOver || phase === "stopped" ? sayShared("close") : sayShared("cancel")}
          </button>
        )}
        {problem && phase === "counted" && (
          <button type="button" onClick={count}>
            {sayShared("retry")}
          </button>
        )}
        {phase === "counted" && !isOver && bulk.kind === "redrive" && (found.n > 1 || found.isMore) && (
          <button type="button" class="act is-plain" onClick={changeInStages}>
            {say("go_staged")}
          </button>
        )}
        {phase === "counted" && !isOver && (
          <button
            type="button"
            class={`act ${bulk.kind === "cancel" ? "is-danger" : "is-main"}`}
            onClick={change}
          >
            {say(found.isMore ? `go_${bulk.kind}_more` : `go_${bulk.kind}`, { n: found.n })}
          </button>
        )}
        {phase === "stopped" && (
          <button type="button" class="act is-main" onClick={staging ? changeInStages : change}>
            {say("go_on")}
          </button>
        )}
      </div>
    </dialog>
  );
}
