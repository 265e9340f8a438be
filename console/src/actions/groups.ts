// Dead letters by what went wrong: what differs from one to the next, such as numbers and ids, is taken out.

import { type Bulk, byIds } from "./bulk";
import type { Filters } from "./filters";
import type { Action } from "./lists";

export interface Group {
  key: string;
  type: string;
  /** The error without what differs. */
  error: string;
  /** The latest first. */
  actions: Action[];
  first: number;
  last: number;
}

const DIFFERING: [RegExp, string][] = [
  [/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi, "…"],
  [/https?:\/\/\S+/gi, "…"],
  [/"[^"]*"|'[^']*'|`[^`]*`|«[^»]*»/g, "…"],
  [/\b[\w.+-]+@[\w-]+\.[\w.-]+\b/g, "…"],
  [/\b0x[0-9a-f]+\b|\b(?=[0-9a-f]*\d)[0-9a-f]{8,}\b/gi, "…"],
  [/\b[\w:.-]*\d[\w:.-]*/g, "…"],
  [/(…[\s,:;/-]*)+…/g, "…"],
];

/** A message without ids, numbers and quoted values. */
export function normalised(message: string): string {
  const text = DIFFERING.reduce((rest, [what, stand]) => rest.replace(what, stand), message);
  return text.replace(/\s+/g, " ").trim();
}

/** When it failed. */
export function failedAt(action: Action): number {
  return Date.parse(action.attempts.at(-1)?.finished_at ?? action.modified_at);
}

/** The largest first. */
export function grouped(actions: Action[]): Group[] {
  const groups = new Map<string, Group>();
  for (const action of actions) {
    const error = normalised(action.failure_reason ?? "");
    const key = `${action.type} ${error}`;
    const at = failedAt(action);
    const group = groups.get(key) ?? { key, type: action.type, error, actions: [], first: at, last: at };
    group.actions.push(action);
    group.first = Math.min(group.first, at);
    group.last = Math.max(group.last, at);
    groups.set(key, group);
  }
  return [...groups.values()].sort((a, b) => b.actions.length - a.actions.length || b.last - a.last);
}

/** All of a group redriven. */
export function ofGroup(group: Group, filters: Filters): Bulk {
  const status: Filters["status"] = ["failed"];
  const meant = { ...filters, type: group.type, status };
  return { ...byIds("redrive", group.actions), filters: meant, error: group.error };
}
