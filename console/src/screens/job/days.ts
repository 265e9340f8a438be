// Days and months of the calendar, as keys such as 2027-06-01, in the zone that times are shown in.

import { present } from "../../clock";
import { dayKey, zone } from "../../time";
import { locale } from "../../words";
import { instantIn, instantOfField } from "../../zones";

const utc = (key: string) => new Date(`${key}T00:00:00Z`);
const keyOf = (day: Date) => day.toISOString().slice(0, 10);

/** Whether the text of the address is a day. */
export function isDay(key: string | null): key is string {
  return !!key && /^\d{4}-\d{2}-\d{2}$/.test(key) && !Number.isNaN(utc(key).getTime());
}

export function today(): string {
  return dayKey(present());
}

export function plusDays(key: string, days: number): string {
  const day = utc(key);
  day.setUTCDate(day.getUTCDate() + days);
  return keyOf(day);
}

/** The same day of another month; its last one, where that month is shorter. */
export function plusMonths(key: string, months: number): string {
  const [year = 0, month = 1, day = 1] = key.split("-").map(Number);
  const last = new Date(Date.UTC(year, month - 1 + months + 1, 0)).getUTCDate();
  return keyOf(new Date(Date.UTC(year, month - 1 + months, Math.min(day, last))));
}

/** The instant at which the day begins in the shown zone; with an hour, that one of it. */
export function startOf(key: string, hour = 0): number {
  const [year = 0, month = 1, day = 1] = key.split("-").map(Number);
  return instantIn(zone.value, Date.UTC(year, month - 1, day, hour));
}

/** A field's day and time (2027-06-01T12:00) as an instant. */
export function instantOf(field: string): string {
  return new Date(instantOfField(zone.value, field)).toISOString();
}

/** What the API takes for "from there on": it leaves out the instant itself. */
export function justBefore(instant: number): string {
  return new Date(instant - 1).toISOString();
}

/** The day that weeks begin with, where the reader lives: 1 is Monday, 7 is Sunday. */
export function firstWeekday(): number {
  const withWeeks = new Intl.Locale(locale.value) as Intl.Locale & {
    getWeekInfo?: () => { firstDay: number };
  };
  return withWeeks.getWeekInfo?.().firstDay ?? 1;
}

/** The days of the month that a day is in. */
export function daysOfMonth(key: string): string[] {
  const first = `${key.slice(0, 7)}-01`;
  const count = new Date(Date.UTC(Number(key.slice(0, 4)), Number(key.slice(5, 7)), 0)).getUTCDate();
  return Array.from({ length: count }, (_, place) => plusDays(first, place));
}

/** In which column of its week a day is, from 0. */
export function columnOf(key: string): number {
  return (utc(key).getUTCDay() - (firstWeekday() % 7) + 7) % 7;
}

export function weekdays(): string[] {
  const format = new Intl.DateTimeFormat(locale.value, { weekday: "short", timeZone: "UTC" });
  return Array.from({ length: 7 }, (_, place) => format.format(Date.UTC(2024, 0, firstWeekday() + place)));
}

/** A day, or its month, as people write it. */
export function dayName(key: string, as: "day" | "month" = "day"): string {
  const shape: Intl.DateTimeFormatOptions =
    as === "month"
      ? { month: "long", year: "numeric" }
      : { weekday: "long", day: "numeric", month: "long", year: "numeric" };
  return new Intl.DateTimeFormat(locale.value, { ...shape, timeZone: "UTC" }).format(utc(key));
}
