// What was wrong with a form, told in the form itself: nobody sees a notice behind a dialog.

import { useState } from "preact/hooks";
import { Problem } from "../../problem";
import { explained } from "../../ui/states";
import { words } from "../../words";

const say = words({
  en: {
    changed: "Somebody has changed it since this was opened. Close this, look at it again, then decide.",
  },
  fr: {
    changed:
      "Quelqu'un l'a modifié depuis l'ouverture de ce formulaire. Fermez-le, regardez à nouveau, puis décidez.",
  },
});

const CHANGED = 412;

/** A refusal of the page's own, before anything is sent. */
export class Flawed extends Error {
  override name = "";
}

interface Flaw {
  /** What to show at the field; null while nothing is wrong. */
  text: string | null;
  /** Runs a change, and keeps why it was refused. */
  guard: <T>(run: () => Promise<T>) => Promise<T>;
}

export function useFlaw(): Flaw {
  const [text, setText] = useState<string | null>(null);
  const guard = async <T,>(run: () => Promise<T>): Promise<T> => {
    setText(null);
    try {
      return await run();
    } catch (error) {
      setText(written(error));
      throw error;
    }
  };
  return { text, guard };
}

export function FlawText({ text }: { text: string | null }) {
  return text === null ? null : (
    <p class="flaw" role="alert">
      {text}
    </p>
  );
}

function written(error: unknown): string {
  if (!(error instanceof Problem)) return error instanceof Error ? error.message : String(error);
  if (error.status === CHANGED) return say("changed");
  const flaws = error.errors.map((each) => `${each.where}: ${each.problem}`);
  return flaws.length > 0 ? flaws.join("; ") : explained(error).why;
}
