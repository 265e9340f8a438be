// A payload, or what else is JSON, as a tree that opens and closes; what is redacted looks like it.

import { useState } from "preact/hooks";
import { isLosslessNumber, writeJson } from "../json";

import { number } from "../words";
import { say } from "../words/shared";
import { LongText } from "./long-text";

/** Entries of an object or an array that are shown at first. */
const ENTRIES = 200;
const REDACTED = "[redacted]";

export function Tree({ value, name, depth = 0 }: { value: unknown; name?: string; depth?: number }) {
  const [shown, setShown] = useState(ENTRIES);
  const label = name !== undefined && (
    <span class="tree-name">
      <bdi>{name}</bdi>:{" "}
    </span>
  );
  if (value === null || typeof value !== "object" || isLosslessNumber(value)) {
    return (
      <div class="tree-leaf">
        {label}
        <Leaf value={value} />
      </div>
    );
  }
  const entries = Object.entries(value);
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  if (entries.length === 0) {
    return (
      <div class="tree-leaf">
        {label}
        {open}
        {close}
      </div>
    );
  }
  return (
    <details class="tree" open={depth < 2}>
      <summary>
        {label}
        <span class="tree-count">
          {open}
          {entries.length}
          {close}
        </span>
      </summary>
      {entries.slice(0, shown).map(([key, each]) => (
        <Tree key={key} name={key} value={each} depth={depth + 1} />
      ))}
      {entries.length > shown && (
        <button type="button" class="link" onClick={() => setShown(entries.length)}>
          {say("more")} ({number(entries.length - shown)})
        </button>
      )}
    </details>
  );
}

function Leaf({ value }: { value: unknown }) {
  if (value === REDACTED) return <span class="redacted">{REDACTED}</span>;
  const kind = isLosslessNumber(value) ? "number" : value === null ? "null" : typeof value;
  return (
    <span class={`tree-${kind}`}>
      <LongText text={writeJson(value)} />
    </span>
  );
}
