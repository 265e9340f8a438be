// The page's languages. Each part of the page has its own table, English and French side by side, so that
// neither can have a word that the other lacks.

import { computed, effect, signal } from "@preact/signals";

export type Language = "en" | "fr";
export const LANGUAGES: Record<Language, string> = { en: "English", fr: "Français" };

type Text = string | { one: string; other: string };
type Table = Record<string, Text>;
export type Values = Record<string, string | number>;

const CHOSEN = "duetime.language";

function preferred(): Language {
  const chosen = localStorage.getItem(CHOSEN) ?? navigator.language;
  return chosen.startsWith("fr") ? "fr" : "en";
}

export const language = signal<Language>(preferred());
effect(() => {
  document.documentElement.lang = language.value;
});

export function choose(chosen: Language): void {
  language.value = chosen;
  localStorage.setItem(CHOSEN, chosen);
}

/** How numbers and times are written: the language, as the reader's own region writes it. */
export const locale = computed(
  () => navigator.languages.find((each) => each.split("-")[0] === language.value) ?? language.value,
);

/**
 * The words of a part: `const say = words({en: {...}, fr: {...}})`, then `say("title")`. A text has its
 * values in braces; one with a number `n` may have a form for one and another for more. French may be typed
 * plainly: its spaces and apostrophes are set here.
 */
export function words<T extends Table>(tables: { en: T; fr: { [K in keyof T]: Text } }) {
  return (key: keyof T & string, values: Values = {}): string => {
    const text = tables[language.value][key] as Text;
    const form = typeof text === "string" ? text : text[formOf(values.n)];
    return filled(language.value === "fr" ? set(form) : form, values);
  };
}

/**
 * French as it is set: a narrow space that does not break beside high punctuation and in quotes, and a round
 * apostrophe.
 */
function set(text: string): string {
  return text
    .replace(/ ([;:!?»])/g, "\u202f$1")
    .replace(/« /g, "«\u202f")
    .replace(/'/g, "’");
}

function formOf(n: string | number | undefined): "one" | "other" {
  return new Intl.PluralRules(language.value).select(Number(n)) === "one" ? "one" : "other";
}

function filled(text: string, values: Values): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    return typeof value === "number" ? number(value) : isolated(String(value ?? ""));
  });
}

/** Letters that are written from right to left. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/** A value whose direction leaves the text around it as it is. */
function isolated(value: string): string {
  return RIGHT_TO_LEFT.test(value) ? `\u2068${value}\u2069` : value;
}

export function number(value: number): string {
  return new Intl.NumberFormat(locale.value).format(value);
}
