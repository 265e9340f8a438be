// What is typed of a job, and the request that it makes.

import type { Schemas } from "../api";
import { isObject, readJson, writeJson } from "../json";
import { own } from "../time";
import { Unusable } from "../ui/dialog";
import { inZone } from "./cadence-load";
import { say } from "./job-editor.words";

type Job = Schemas["JobView"];
export type Body = Schemas["ReplaceRequest"];

export interface Draft {
  name: string;
  type: string;
  payload: string;
  cadences: string;
  tz: string;
  overlap: string;
  precision: string;
  catch_up: string;
  failure_threshold: string;
  attempts: string;
  backoff: string;
  jitter: string;
  give_up_after: string;
  deadline: string;
  within: string;
  every_success_within: string;
  after: string;
  after_timeout: string;
  title: string;
  category: string;
  description: string;
}

export const NUMBERS = [
  ...(["catch_up", "failure_threshold", "attempts", "jitter"] as const),
  ...(["give_up_after", "within", "every_success_within", "after_timeout"] as const),
] as const;

/** The fields of a new job, or of one that is edited. */
export function draftOf(job: Job | null): Draft {
  const text = (value: number | string | null | undefined) => String(value ?? "");
  return {
    name: text(job?.name),
    type: text(job?.type),
    payload: job?.payload === null || job?.payload === undefined ? "" : writeJson(job.payload, 2),
    cadences: (job?.cadences ?? [])
      .map((cadence) => cadence.text)
      .filter((cadence) => cadence !== "manual")
      .join("\n"),
    tz: own,
    overlap: text(job?.overlap),
    precision: text(job?.precision ?? "second"),
    catch_up: text(job?.catch_up ?? 0),
    failure_threshold: text(job?.failure_threshold ?? 3),
    attempts: text(job?.retry?.attempts),
    backoff: (job?.retry?.backoff ?? []).join(", "),
    jitter: text(job?.retry?.jitter),
    give_up_after: text(job?.retry?.give_up_after),
    deadline: text(job?.deadline),
    within: text(job?.within),
    every_success_within: text(job?.every_success_within),
    after: text(job?.after),
    after_timeout: text(job?.after_timeout),
    title: text(job?.title),
    category: text(job?.category),
    description: text(job?.description),
  };
}

/** The request of a draft. Raises Unusable with the fields that cannot be sent. */
export function bodyOf(draft: Draft): Body {
  const flaws: Record<string, string> = {};
  const numberOf = (field: string, text: string): number | null => {
    if (!text.trim()) return null;
    const value = Number(text);
    if (!Number.isFinite(value)) flaws[field] = say("not_number");
    return value;
  };
  const [catchUp, threshold, attempts, jitter, giveUp, within, every, afterTimeout] = NUMBERS.map((field) =>
    numberOf(field, draft[field]),
  );
  const backoff = draft.backoff
    .split(/[,;\s]+/)
    .filter(Boolean)
    .map((wait) => numberOf("backoff", wait) ?? 0);
  const retry = {
    attempts: attempts ?? null,
    backoff: backoff.length > 0 ? backoff : null,
    jitter: jitter ?? null,
    give_up_after: giveUp ?? null,
  };
  const hasRetry = Object.values(retry).some((value) => value !== null);
  const payload = payloadOf(draft.payload, flaws);
  if (Object.keys(flaws).length > 0) throw new Unusable(flaws);
  return {
    type: draft.type.trim(),
    payload,
    cadences: draft.cadences
      .split("\n")
      .filter((line) => line.trim())
      .map((cadence) => inZone({ cadence, tz: draft.tz, from: "" })),
    retry: hasRetry ? retry : null,
    overlap: (draft.overlap || null) as Body["overlap"],
    precision: draft.precision as Body["precision"],
    catch_up: catchUp ?? 0,
    failure_threshold: threshold ?? 3,
    deadline: draft.deadline.trim() || null,
    within: within ?? null,
    every_success_within: every ?? null,
    after: draft.after.trim() || null,
    after_timeout: afterTimeout ?? null,
    title: draft.title,
    category: draft.category,
    description: draft.description,
    idempotency_key: null,
    idempotency_ttl: null,
  };
}

function payloadOf(text: string, flaws: Record<string, string>): Record<string, unknown> | null {
  if (!text.trim()) return null;
  try {
    const payload = readJson(text);
    if (isObject(payload)) return payload;
    flaws.payload = say("not_object");
  } catch (error) {
    flaws.payload = say("not_json", { problem: String((error as Error).message) });
  }
  return null;
}
