// What a reader writes into a field of date and time, as the instant that is meant: in the zone that times
// are shown in.

import { instantOfField } from "../zones";

/** The instant in UTC; null where nothing was written. `text` is as the field gives it: 2027-06-01T07:00. */
export function instantOf(text: string, zone: string): string | null {
  if (!text) return null;
  const at = instantOfField(zone, text);
  return Number.isNaN(at) ? null : new Date(at).toISOString();
}
