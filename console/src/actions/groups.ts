// Dead letters by what went wrong: what differs from one to the next, such as numbers and ids, is taken out.

import type { Bulk } from "./bulk";
import { byFilters, type ByFilters, countOf } from "./bulk";
import { redrive } from "./changes";
import type { Filters } from "./filters";
import type { Action } from "./lists";
import { Problem } from "../problem";

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

/**
 * All of a group redriven: by the filters, if they mean just these; else one by one. `isOnly` says that the
 * filters, with the group's type, mean nothing else as far as was seen; it is looked at once more before.
 */
export function ofGroup(group: Group, filters: Filters, isOnly: boolean): Bulk {
  const found = countOf(group.actions);
  const ids = new Set(group.actions.map((each) => each.id));
  const many = byFilters("redrive", { ...filters, type: group.type, status: ["failed"] });
  const single = oneByOne(group.actions);

  async function* count() {
    yield found;
  }
  let chosen: Bulk["change"] | undefined;
  async function* change() {
    chosen ??= isOnly && (await meansJust(many, ids)) ? many.change : single;
    yield* chosen();
  }
  return { kind: "redrive", filters: many.filters, error: group.error, count, change };
}

async function meansJust(many: ByFilters, ids: Set<string>): Promise<boolean> {
  const seen = await many.ids();
  return seen.length === ids.size && seen.every((each) => ids.has(each));
}

function oneByOne(actions: Action[]): Bulk["change"] {
  let done = 0;
  let changed = 0;
  const left: { id: string; reason: string }[] = [];
  return async function* () {
    for (; done < actions.length; done += 1) {
      const { id, type } = actions[done] as Action;
      try {
        await redrive(id, type);
        changed += 1;
      } catch (error) {
        if (!(error instanceof Problem) || error.status === 0 || error.status >= 429) throw error;
        left.push({ id, reason: error.detail || error.title });
      }
      yield { changed, left: [...left] };
    }
  };
}
