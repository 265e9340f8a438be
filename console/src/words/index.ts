// The page's words. The English ones stand in tables beside their screens. Each other language is a file in
// languages/, which is loaded only when it is chosen.

import { computed, effect, signal } from "@preact/signals";
import type { Parts } from "./parts.d.ts";

type Text = string | { one: string; other: string };
type Table = Record<string, Text>;
export type Values = Record<string, string | number>;

/** All words of the page in another language: the same keys as the English tables have. */
export type Translation = { [P in keyof Parts]: Record<Parameters<Parts[P]>[0], Text> };

interface Loaded {
  translation: Translation;
  /** How its texts are set, if it has rules of its own. */
  typeset?: (text: string) => string;
}

/** The codes of the files in languages/: the build defines them. */
declare const TRANSLATED: string[];
const ENGLISH = "en";
export const LANGUAGES = [ENGLISH, ...TRANSLATED];

const CHOSEN = "duetime.language";

function preferred(): string {
  const [code = ENGLISH] = (localStorage.getItem(CHOSEN) ?? navigator.language).split("-");
  return LANGUAGES.includes(code) ? code : ENGLISH;
}

/** The language of the page; null of `loaded` is English. */
const shown = signal<{ code: string; loaded: Loaded | null }>({ code: ENGLISH, loaded: null });
export const language = computed(() => shown.value.code);
effect(() => {
  document.documentElement.lang = language.value;
});

/** Show the page in a language. Without its file, the page stays in the language it has. */
async function show(code: string): Promise<void> {
  const loaded = code === ENGLISH ? null : ((await import(`../languages/${code}.ts`)) as Loaded);
  shown.value = { code, loaded };
}

/** Show the reader's language, or English if its file is out of reach. */
export const loadLanguage = () => show(preferred()).catch(() => show(ENGLISH));

export async function choose(code: string): Promise<void> {
  await show(code);
  localStorage.setItem(CHOSEN, code);
}

/** What a language calls itself, as "Français". */
export function nameOf(code: string): string {
  const name = new Intl.DisplayNames(code, { type: "language" }).of(code) ?? code;
  return name.charAt(0).toLocaleUpperCase(code) + name.slice(1);
}

/** How numbers and times are written: the language, as the reader's own region writes it. */
export const locale = computed(
  () => navigator.languages.find((each) => each.split("-")[0] === language.value) ?? language.value,
);

/**
 * The words of a part: `const say = words("actions/bulk", {...})`, then `say("title")`. The part's name is
 * the file's. A text has its values in braces; one with a number `n` may have a form for one and another for
 * more.
 */
export function words<T extends Table>(part: keyof Parts, table: T) {
  return (key: keyof T & string, values: Values = {}): string => {
    const { loaded } = shown.value;
    const translated = loaded?.translation[part] as Table | undefined;
    const text = (translated ?? table)[key] as Text;
    const form = typeof text === "string" ? text : text[formOf(values.n)];
    return filled(loaded?.typeset?.(form) ?? form, values);
  };
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
