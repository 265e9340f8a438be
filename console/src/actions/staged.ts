// A redrive in stages: one action, then ten, then all. The same error ends it. What was redriven is in the
// API's rows, so a page that is closed in between leaves nothing unknown.

import { api, call } from "../api";
import { changeByIds, IDS_AT_ONCE, type Left } from "./bulk";
import { normalised } from "./groups";
import type { Action } from "./lists";

const STAGES = [1, 10, Number.POSITIVE_INFINITY];
const POLL = 1_000;
/** Ids in one read: they are in its address. */
const LOOKED_AT = 50;

export const OUTCOMES = ["executed", "same_error", "other_error", "ended", "running"] as const;
export type Outcome = (typeof OUTCOMES)[number];

export interface Stage {
  number: number;
  outcomes: Record<Outcome, Action[]>;
  redriven: number;
  left: Left[];
}

/** Why no stage follows: `all` is no stop. */
export type End = "all" | "same_error" | "none_executed";

export interface Staging {
  stages: Stage[];
  end: End | null;
}

/** Takes the next failed actions, as they are; none when there are no more. */
export type Take = (most: number) => Promise<Action[]>;

interface Member {
  before: Action;
  now: Action;
}

/** Return a function whose steps may be stopped and gone on with. */
export function inStages(take: Take): () => AsyncGenerator<Staging> {
  const stages: { members: Map<string, Member>; left: Left[]; isFull: boolean }[] = [];
  let end: End | null = null;
  const shown = (): Staging => ({ stages: stages.map(reported), end });

  async function* redriven(stage: (typeof stages)[number], size: number) {
    while (!stage.isFull) {
      const found = await take(Math.min(size - stage.members.size - stage.left.length, IDS_AT_ONCE));
      const before = new Map(found.map((action) => [action.id, action]));
      if (found.length > 0) {
        const { changed, left } = await changeByIds("redrive", [...before.keys()]);
        for (const now of changed) {
          stage.members.set(now.id, { before: before.get(now.id) as Action, now });
        }
        stage.left.push(...left);
      }
      stage.isFull = found.length === 0 || stage.members.size + stage.left.length >= size;
      if (size > LOOKED_AT) await look(stage.members, undecided(stage.members).slice(0, LOOKED_AT));
      if (reported(stage, 0).outcomes.same_error.length > 0) stage.isFull = true;
      yield shown();
    }
  }

  return async function* () {
    while (end === null) {
      const current = stages.at(-1);
      if (!current || (current.isFull && undecided(current.members).length === 0)) {
        stages.push({ members: new Map(), left: [], isFull: false });
      }
      const stage = stages.at(-1) as (typeof stages)[number];
      const size = STAGES[stages.length - 1] as number;
      yield* redriven(stage, size);
      for (let open = undecided(stage.members); open.length > 0; open = undecided(stage.members)) {
        await new Promise((resolve) => setTimeout(resolve, POLL));
        for (let first = 0; first < open.length; first += LOOKED_AT) {
          await look(stage.members, open.slice(first, first + LOOKED_AT));
        }
        yield shown();
      }
      end = endOf(reported(stage, 0), size);
      if (stage.members.size + stage.left.length === 0) stages.pop();
      yield shown();
    }
  };
}

function endOf({ outcomes, redriven, left }: Stage, size: number): End | null {
  if (outcomes.same_error.length > 0) return "same_error";
  if (redriven + left.length < size) return "all";
  return redriven > 0 && outcomes.executed.length === 0 ? "none_executed" : null;
}

function reported({ members, left }: { members: Map<string, Member>; left: Left[] }, index: number): Stage {
  const outcomes: Stage["outcomes"] = {
    executed: [],
    same_error: [],
    other_error: [],
    ended: [],
    running: [],
  };
  for (const member of members.values()) outcomes[outcomeOf(member)].push(member.now);
  return { number: index + 1, outcomes, redriven: members.size, left };
}

function undecided(members: Map<string, Member>): string[] {
  return [...members.values()]
    .filter((member) => outcomeOf(member) === "running")
    .map((member) => member.now.id);
}

/** Read actions again. */
async function look(members: Map<string, Member>, ids: string[]) {
  if (ids.length === 0) return;
  const page = await call(api.GET("/actions/query", { params: { query: { ids, limit: LOOKED_AT } } }));
  for (const now of page.items) {
    const member = members.get(now.id);
    if (member) member.now = now;
  }
}

/** The outcome since the redrive, by the first attempt that ended. */
function outcomeOf({ before, now }: Member): Outcome {
  if (now.status === "executed") return "executed";
  if (now.status === "failed" || now.is_retrying) {
    return normalised(errorOf(now)) === normalised(errorOf(before)) ? "same_error" : "other_error";
  }
  return now.status === "pending" || now.status === "processing" ? "running" : "ended";
}

export function errorOf(action: Action): string {
  return action.failure_reason ?? action.attempts.at(-1)?.message ?? "";
}
