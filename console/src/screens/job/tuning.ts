// What holds for a job's retries: what operators set for a cadence, else for the whole job, else what was
// declared.

import { span } from "../../time";
import { number } from "../../words";
import type { Schemas } from "../../api";
import type { Job } from "./accounts";
import { Unusable } from "../../ui/dialog";
import { say } from "./settings.words";

export const SETTINGS = ["attempts", "backoff", "jitter"] as const;
export type Setting = (typeof SETTINGS)[number];
type Tuning = Schemas["TuningView"];

/** What was set for one cadence, or for the whole job. */
export function tuningOf(job: Job, cadence: string | null): Tuning {
  const found = job.tuning.find((each) => each.cadence === cadence);
  return found ?? { cadence, attempts: null, backoff: null, jitter: null };
}

/** Where a value comes from if nothing is set here, and which one it is. */
export function fallback(
  job: Job,
  cadence: string | null,
  setting: Setting,
): { source: string; value: string } {
  const ofJob = cadence === null ? null : tuningOf(job, null)[setting];
  if (ofJob !== null) return { source: say("set_for_job"), value: shown(setting, ofJob) };
  if (job.retry) return { source: say("declared"), value: shown(setting, job.retry[setting]) };
  return { source: say("handler"), value: "" };
}

/** What leaving a field empty means, in words. */
export function fallbackText(job: Job, cadence: string | null, setting: Setting): string {
  const { source, value } = fallback(job, cadence, setting);
  return value ? say("goes_by", { source, value }) : source;
}

/** A setting as people read it: 3; 30 s, 5 min; 10 %. */
export function shown(setting: Setting, value: number | number[]): string {
  if (Array.isArray(value)) return value.map((each) => (each ? span(each * 1_000) : number(0))).join(", ");
  return setting === "jitter" ? number(value) : String(value);
}

/** A setting as it stands in its field. */
export function written(value: number | number[] | null): string {
  if (value === null) return "";
  return Array.isArray(value) ? value.join(", ") : String(value);
}

/** The settings that a form says; what is empty is null, and goes by what was declared. */
export function readForm(form: FormData): Pick<Schemas["SettingsRequest"], Setting> {
  const text = (name: Setting) => String(form.get(name) ?? "").trim();
  const one = (name: Setting) => (text(name) ? numberOf(text(name), name) : null);
  const waits = text("backoff")
    .split(/[,;\s]+/)
    .filter(Boolean)
    .map((each) => numberOf(each, "backoff"));
  return {
    attempts: one("attempts"),
    backoff: waits.length === 0 ? null : waits,
    jitter: one("jitter"),
  };
}

function numberOf(text: string, setting: Setting): number {
  const value = Number(text);
  if (!Number.isFinite(value)) throw new Unusable({ [setting]: say("not_number", { text }) });
  return value;
}
