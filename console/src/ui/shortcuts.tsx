// The list of keyboard shortcuts: "?" opens it on every screen, except where text is typed.

import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { say as shared } from "../words/shared";
import { say } from "./shortcuts.words";

const isOpen = signal(false);

export function openShortcuts(): void {
  if (!document.querySelector("dialog[open]")) isOpen.value = true;
}

const TYPED_IN = "input, textarea, select, [contenteditable]";

export function Shortcuts() {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key !== "?" || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target instanceof Element && event.target.closest(TYPED_IN)) return;
      event.preventDefault();
      openShortcuts();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
  return isOpen.value ? <List /> : null;
}

const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);
const KEYS: [string[], Parameters<typeof say>[0]][] = [
  [[isMac ? "⌘" : "Ctrl", "K"], "search"],
  [["↑", "↓"], "move"],
  [["Enter"], "take"],
  [["Tab"], "next"],
  [["Shift", "Tab"], "previous"],
  [["Esc"], "close"],
  [["?"], "list"],
];

function List() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="ask" aria-label={say("title")} onClose={() => (isOpen.value = false)}>
      <h2>{say("title")}</h2>
      <table>
        <thead>
          <tr>
            <th scope="col">{say("keys")}</th>
            <th scope="col">{say("what")}</th>
          </tr>
        </thead>
        <tbody>
          {KEYS.map(([keys, what]) => (
            <tr key={what}>
              <td>
                {keys.map((key) => (
                  <kbd key={key}>{key} </kbd>
                ))}
              </td>
              <td>{say(what)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <div class="buttons">
        <button type="button" onClick={() => dialog.current?.close()}>
          {shared("close")}
        </button>
      </div>
    </dialog>
  );
}
