// Asks for a cadence's times: the next ones, and those of some weeks for the calendar. What it refuses is an
// answer, too.

import { present } from "../clock";
import { api, call, type Schemas } from "../api";
import { Problem } from "../problem";
import { beginOf, daysAfter, isZone, localDay } from "../zones";

export type Preview = Schemas["PreviewView"];

export interface Refusal {
  /** What was typed, and the place in it that is at fault. */
  text: string;
  start: number;
  width: number;
  problem: string;
  remedy: string;
}

export type Seen = { preview: Preview; weeks: Preview; first: string } | { refusal: Refusal };

export const DAYS = 35;
const TIMES = 20;
const MOST = 500;
export const REFUSED = [400, 422];
const NAMES_ITS_ZONE = /\s(tz|default_tz)=|^\s*(on_event|on-event|manual)\b/i;

export interface PreviewRequest {
  cadence: string;
  tz: string;
  /** The first day, as 2027-06-01; empty is now. */
  from: string;
}

/** The text that is request for: with the zone of the field, if it names none and may have one. */
export function inZone({ cadence, tz }: PreviewRequest): string {
  const text = cadence.trim();
  return tz && !NAMES_ITS_ZONE.test(text) ? `${text} tz=${tz}` : text;
}

export async function load(request: PreviewRequest, signal: AbortSignal): Promise<Seen> {
  const text = inZone(request);
  const zone = isZone(request.tz) ? request.tz : "UTC";
  const begin = request.from ? beginOf(request.from, zone) : present();
  const first = localDay(zone, begin);
  const get = (query: { cadence: string; from: string; until?: string; count?: number }) =>
    call(api.GET("/jobs/preview", { params: { query }, signal }));
  const from = new Date(begin - 1).toISOString(); // "from" itself is excluded
  const until = new Date(beginOf(daysAfter(first, DAYS), zone) - 1).toISOString();
  try {
    const preview = await get({ cadence: text, from, count: TIMES });
    const weeks = await get({ cadence: text, from, until, count: MOST });
    return { preview, weeks, first };
  } catch (error) {
    if (error instanceof Problem && REFUSED.includes(error.status)) {
      return { refusal: refusalOf(error, request.cadence.trim()) };
    }
    throw error;
  }
}

/**
 * The refusal as it concerns what was typed: the zone that was put behind it is not shown, unless it is at
 * fault.
 */
export function refusalOf(problem: Problem, typed: string): Refusal {
  const { text, start, width, problem: what, remedy } = problem.more as Partial<Refusal>;
  const flaws = problem.errors.map((each) => each.problem).join("; ");
  const isBehind = start !== undefined && start >= [...typed].length;
  return {
    text: text?.startsWith(typed) && !isBehind ? typed : (text ?? typed),
    start: start ?? 0,
    width: width ?? 0,
    problem: what ?? (flaws || problem.detail || problem.title),
    remedy: remedy ?? "",
  };
}
