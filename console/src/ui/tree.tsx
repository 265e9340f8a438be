// A payload, or what else is JSON, as a tree that opens and closes; what is redacted looks like it.

import { isLosslessNumber, writeJson } from "../json";

const REDACTED = "[redacted]";

export function Tree({ value, name, depth = 0 }: { value: unknown; name?: string; depth?: number }) {
  const label = name !== undefined && <span class="tree-name">{name}: </span>;
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
      {entries.map(([key, each]) => (
        <Tree key={key} name={key} value={each} depth={depth + 1} />
      ))}
    </details>
  );
}

function Leaf({ value }: { value: unknown }) {
  if (value === REDACTED) return <span class="redacted">{REDACTED}</span>;
  const kind = isLosslessNumber(value) ? "number" : value === null ? "null" : typeof value;
  return <span class={`tree-${kind}`}>{writeJson(value)}</span>;
}
