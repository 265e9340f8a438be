// What a zone's wall clock shows, and when it is changed next: by Intl alone.

const MINUTE = 60_000;
const DAY = 86_400_000;
const STEP = 5 * DAY;
const AHEAD = 400 * DAY;

const clocks = new Map<string, Intl.DateTimeFormat>();

function clockOf(zone: string): Intl.DateTimeFormat {
  const known = clocks.get(zone);
  if (known) return known;
  const numeric = "numeric";
  const made = new Intl.DateTimeFormat("en-US", {
    ...{ timeZone: zone, calendar: "gregory", hourCycle: "h23", era: "short" },
    ...{ year: numeric, month: numeric, day: numeric, hour: numeric, minute: numeric, second: numeric },
  });
  clocks.set(zone, made);
  return made;
}

export const ZONES: string[] = [...new Set(["UTC", ...Intl.supportedValuesOf("timeZone")])];

export function isZone(zone: string): boolean {
  try {
    return zone !== "" && Boolean(clockOf(zone));
  } catch {
    return false;
  }
}

/** Milliseconds that the zone is ahead of UTC at an instant. */
export function offsetAt(zone: string, at: number): number {
  const parts = Object.fromEntries(
    clockOf(zone)
      .formatToParts(at)
      .map((each) => [each.type, each.value]),
  );
  const of = (name: string) => Number(parts[name]);
  const shown = Date.UTC(of("year"), of("month") - 1, of("day"), of("hour"), of("minute"), of("second"));
  return shown - Math.floor(at / 1_000) * 1_000;
}

/** The local day of an instant, as 2027-06-01. */
export function localDay(zone: string, at: number): string {
  return new Date(at + offsetAt(zone, at)).toISOString().slice(0, 10);
}

/**
 * The instant of a time on the zone's wall clock, which is given as if it were in UTC. A time that occurs
 * twice is the first one; a time that the clocks skip is as much later as they are moved. `Date` does the
 * same.
 */
export function instantIn(zone: string, wall: number): number {
  if (Number.isNaN(wall)) return wall;
  const [before, after] = [offsetAt(zone, wall - DAY), offsetAt(zone, wall + DAY)];
  const isAt = (offset: number) => offsetAt(zone, wall - offset) === offset;
  return wall - (isAt(before) || !isAt(after) ? before : after);
}

/** The instant of what a field of date and time has, such as 2027-06-01T07:00; NaN if it has none. */
export function instantOfField(zone: string, text: string): number {
  return instantIn(zone, Date.parse(`${text}Z`));
}

/** The instant at which a local day begins. */
export function beginOf(day: string, zone: string): number {
  return instantIn(zone, Date.parse(`${day}T00:00:00Z`));
}

export function daysAfter(day: string, count: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + count * DAY).toISOString().slice(0, 10);
}

/** When the zone's clocks are changed next after an instant, to the minute; null if not within 400 days. */
export function nextChange(zone: string, after: number): number | null {
  for (let from = after; from < after + AHEAD; from += STEP) {
    const before = offsetAt(zone, from);
    if (offsetAt(zone, from + STEP) === before) continue;
    let [low, high] = [from, from + STEP];
    while (high - low > MINUTE) {
      const middle = (low + high) / 2;
      if (offsetAt(zone, middle) === before) low = middle;
      else high = middle;
    }
    return Math.floor(high / MINUTE) * MINUTE;
  }
  return null;
}
