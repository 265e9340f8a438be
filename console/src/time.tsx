// Times as people read them: in the reader's zone or another that was chosen, with UTC on hover.

import { computed, signal } from "@preact/signals";
import { now } from "./clock";
import { locale } from "./words";
import { say } from "./time.words";
import { isZone } from "./zones";

const CHOSEN = "duetime.zone";
export const own = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The zone that times are shown in. */
export const zone = signal(stored());

function stored(): string {
  const chosen = localStorage.getItem(CHOSEN);
  return chosen !== null && isZone(chosen) ? chosen : own;
}

export function chooseZone(chosen: string): void {
  zone.value = chosen;
  localStorage.setItem(CHOSEN, chosen);
}

const formats = computed(() => {
  const make = (options: Intl.DateTimeFormatOptions, timeZone = zone.value) =>
    new Intl.DateTimeFormat(locale.value, { timeZone, ...options });
  const clock = { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" } as const;
  return {
    clock: make(clock),
    minute: make({ hour: "2-digit", minute: "2-digit", hourCycle: "h23" }),
    weekday: make({ weekday: "short", day: "numeric" }),
    day: make({ weekday: "short", day: "numeric", month: "short" }),
    date: make({ day: "numeric", month: "short", year: "numeric" }),
    short: make({ day: "numeric", month: "short", ...clock }),
    dated: make({ day: "numeric", month: "short", year: "numeric", ...clock }),
    full: make({ weekday: "short", day: "numeric", month: "short", year: "numeric", ...clock }),
    key: new Intl.DateTimeFormat("en-CA", { timeZone: zone.value }),
    utc: make({ dateStyle: "medium", timeStyle: "medium" }, "UTC"),
  };
});

type Shape = Exclude<keyof typeof formats.value, "key">;
export type Moment = string | number | Date;

/** An instant as text. */
export function written(at: Moment, shape: Shape = "full"): string {
  return formats.value[shape].format(new Date(at));
}

/** The day of an instant in the shown zone, as 2027-06-01: to group by, not to be read. */
export function dayKey(at: Moment): string {
  return formats.value.key.format(new Date(at));
}

const today = computed(() => dayKey(now.value));

/** An instant of today as its time, another with its day, and one of another year with that. */
export function brief(at: Moment): string {
  const day = dayKey(at);
  if (day === today.value) return written(at, "clock");
  return written(at, day.slice(0, 4) === today.value.slice(0, 4) ? "short" : "dated");
}

const UNITS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1_000],
] as const;

/**
 * A length of time in its two largest units: "2 hr 5 min"; below ten seconds with a fraction, below one in
 * ms.
 */
export function span(milliseconds: number): string {
  const length = Math.abs(milliseconds);
  if (length < 1_000) return say("ms", { n: Math.round(length) });
  const unit = (name: string, value: number, digits = 0) =>
    new Intl.NumberFormat(locale.value, {
      style: "unit",
      unit: name,
      unitDisplay: name === "second" ? "narrow" : "short",
      maximumFractionDigits: digits,
    }).format(value);
  if (length < 10_000) return unit("second", length / 1_000, 1);
  let rest = Math.round(length / 1_000) * 1_000;
  const parts: string[] = [];
  for (const [name, size] of UNITS) {
    const count = Math.floor(rest / size);
    if (count > 0 && parts.length < 2) parts.push(unit(name, count));
    else if (parts.length > 0) break;
    rest -= count * size;
  }
  return parts.join(" ");
}

/** How far an instant is from now: "in 3 min", "2 hr ago". To the second, so it changes while one looks. */
export function distance(at: Moment): string {
  const away = new Date(at).getTime() - now.value;
  if (Math.abs(away) < 1_000) return say("now");
  const distance = span(Math.round(away / 1_000) * 1_000);
  return away > 0 ? say("in", { span: distance }) : say("ago", { span: distance });
}

interface TimeProps {
  at: Moment;
  /** The format; "away" is the distance from now. */
  as?: Shape | "brief" | "away";
}

/** An instant; its tooltip shows the reader's zone and UTC. */
export function Time({ at, as = "brief" }: TimeProps) {
  const text = as === "away" ? distance(at) : as === "brief" ? brief(at) : written(at, as);
  const instant = new Date(at);
  return (
    <time dateTime={instant.toISOString()} title={`${written(at)} (${zone.value})\n${instant.toISOString()}`}>
      {text}
    </time>
  );
}
