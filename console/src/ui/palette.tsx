// The search box, which is the command palette too: Ctrl K or ⌘ K opens it on every screen. What the console
// offers is there at once; what the API found follows.

import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { api, call, type Schemas } from "../api";
import { can } from "../me";
import { Problem } from "../problem";
import { type Choice, ofConsole, ofGroups, type ScreenEntry } from "./palette-choices";
import { say } from "./palette.words";
import { explained } from "./states";

const LONGEST = 200;
const SHORTEST = 2;
/** Milliseconds without a key before the API is called. */
const PAUSE = 250;

interface PaletteProps {
  screens: ScreenEntry[];
}

export function Palette({ screens }: PaletteProps) {
  const [isOpen, setOpen] = useState(false);
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey) return;
      event.preventDefault();
      if (!document.querySelector("dialog[open]")) setOpen(true);
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
  return (
    <>
      <button
        type="button"
        class="palette-open"
        aria-keyshortcuts="Control+K Meta+K"
        onClick={() => setOpen(true)}
      >
        {say("search")} <kbd aria-hidden="true">{isMac ? "⌘K" : "Ctrl K"}</kbd>
      </button>
      {isOpen && <Box screens={screens} close={() => setOpen(false)} />}
    </>
  );
}

const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

interface Found {
  text: string;
  groups: Schemas["SuggestionGroup"][];
  trouble?: string;
}

/** What the API finds for the text, after a pause in typing. */
function useFound(text: string): Found | undefined {
  const [found, setFound] = useState<Found>();
  useEffect(() => {
    if (text.length < SHORTEST || !can("actions:read", "jobs:read")) return;
    const left = new AbortController();
    const load = async () => {
      try {
        const answer = await call(
          api.GET("/search", { params: { query: { q: text } }, signal: left.signal }),
        );
        if (!left.signal.aborted) setFound({ text, groups: answer.items });
      } catch (error) {
        if (left.signal.aborted) return;
        const trouble = error instanceof Problem ? explained(error).title : String(error);
        setFound({ text, groups: [], trouble });
      }
    };
    const timer = setTimeout(() => void load(), PAUSE);
    return () => {
      clearTimeout(timer);
      left.abort();
    };
  }, [text]);
  return found?.text === text ? found : undefined;
}

function Box({ screens, close }: PaletteProps & { close: () => void }) {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const text = typed.trim();
  const found = useFound(text);
  // What the API found comes last: as it arrives, it moves no choice that Enter is about to take.
  const groups = [...ofConsole(text, screens), ...(found ? ofGroups(text, found.groups) : [])];
  const all = groups.flatMap(({ choices }) => choices);
  const current = Math.min(at, all.length - 1);
  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    document.getElementById(`${id}-${current}`)?.scrollIntoView({ block: "nearest" });
  }, [current]);
  const take = (choice: Choice | undefined) => {
    if (!choice) return;
    dialog.current?.close();
    choice.run();
  };
  const press = (event: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };
    const step = steps[event.key];
    if (step !== undefined && all.length > 0) setAt((current + step + all.length) % all.length);
    else if (event.key === "Enter" && !event.isComposing) take(all[current]);
    else return;
    event.preventDefault();
  };
  const isSearching = text.length >= SHORTEST && !found && can("actions:read", "jobs:read");
  let number = -1;
  return (
    <dialog ref={dialog} class="ask palette" aria-label={say("title")} onClose={close}>
      <input
        type="text"
        role="combobox"
        aria-label={say("title")}
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-activedescendant={all.length > 0 ? `${id}-${current}` : undefined}
        aria-autocomplete="list"
        autocomplete="off"
        dir="auto"
        maxLength={LONGEST}
        placeholder={say("hint")}
        value={typed}
        onInput={(event) => {
          setTyped(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={press}
      />
      <p class="muted" role="status">
        {isSearching && say("searching")}
        {found?.trouble && say("failed", { why: found.trouble })}
        {!isSearching && !found?.trouble && all.length === 0 && say("none")}
      </p>
      <div id={`${id}-list`} role="listbox" aria-label={say("results")} class="palette-list">
        {groups.map(({ title, choices }) => (
          <div key={title} role="group" aria-label={title}>
            <div class="palette-title" aria-hidden="true">
              {title}
            </div>
            {choices.map((choice) => {
              number += 1;
              const place = number;
              return (
                <div
                  key={`${place} ${choice.name}`}
                  id={`${id}-${place}`}
                  role="option"
                  aria-selected={place === current}
                  onMouseMove={() => place !== current && setAt(place)}
                  onClick={() => take(choice)}
                >
                  <bdi>{choice.name}</bdi> {choice.detail && <small>{choice.detail}</small>}
                </div>
              );
            })}
          </div>
        ))}
      </div>
    </dialog>
  );
}
