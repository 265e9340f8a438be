// JSON that keeps each number as its source wrote it. JavaScript's own reader rounds integers above 2^53 and
// turns 1.0 into 1; a payload that was shown, copied or sent after that would be another payload.

import { isLosslessNumber, LosslessNumber, parse, stringify } from "lossless-json";

/** Return a number, or its source text if JavaScript would write another text for it. */
function exactNumber(text: string): number | LosslessNumber {
  const number = Number(text);
  return String(number) === text ? number : new LosslessNumber(text);
}

const NUMBERS = /[:,[]\s*(-?\d[\d.eE+-]*)/g;

/** Whether JavaScript writes each number as it is in the text; a text within may look like a number, too. */
function isExact(text: string): boolean {
  for (const [, number = ""] of text.matchAll(NUMBERS)) if (String(Number(number)) !== number) return false;
  return true;
}

/** Read JSON; numbers that JavaScript cannot hold exactly stay text. Raises SyntaxError. */
export function readJson(text: string): unknown {
  return parse(text, null, exactNumber);
}

/** Write JSON; what `readJson` returned is written with the numbers of its source. */
export function writeJson(value: unknown, indent?: number): string {
  return stringify(value, null, indent) ?? "null";
}

/** Fields of the API that have JSON of an app: payloads, and the requests and results of the audit trail. */
const OF_APPS = new Set(["payload", "request_fields", "result"]);

/** Read a response of the API: the API's own numbers are JavaScript's, those of an app stay exact. */
export function readResponse(text: string): unknown {
  return isExact(text) ? JSON.parse(text) : withPlainNumbers(parse(text, null, exactNumber));
}

function withPlainNumbers(value: unknown): unknown {
  if (isLosslessNumber(value)) return Number(value.toString());
  if (Array.isArray(value)) return value.map(withPlainNumbers);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, OF_APPS.has(name) ? item : withPlainNumbers(item)]),
  );
}

/** Whether it is a JSON object: no array, no null, and no number that stayed text. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isLosslessNumber(value);
}

export { isLosslessNumber };
