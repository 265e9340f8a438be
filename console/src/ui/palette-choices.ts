// What the search box offers: screens and commands that have the text in their name, and what the API found.

import type { Schemas } from "../api";
import { refreshAll } from "../query";
import { go, href } from "../route";
import { chooseTheme, theme, THEMES } from "../theme";
import { chooseZone, own, zone } from "../time";
import { choose, LANGUAGES, language, nameOf } from "../words";
import { status as sayStatus } from "../words/shared";
import { say } from "./palette.words";
import { refused } from "./toasts";

type Group = Schemas["SuggestionGroup"];
type Suggestion = Schemas["SuggestionView"];

export interface Choice {
  name: string;
  /** What is known of it: a status, or a count. */
  detail?: string;
  run: () => void;
}

export interface Choices {
  title: string;
  choices: Choice[];
}

export interface ScreenEntry {
  at: string;
  name: string;
}

/** The screens and commands whose name has the text in it; all of them without a text. */
export function ofConsole(text: string, screens: ScreenEntry[]): Choices[] {
  const matches = ({ name }: { name: string }) => name.toLowerCase().includes(text.toLowerCase());
  const places = screens.filter(matches).map(({ at, name }) => ({
    name,
    run: () => go(at ? href(at) : href()),
  }));
  return [
    { title: say("screens"), choices: places },
    { title: say("commands"), choices: commands().filter(matches) },
  ].filter(({ choices }) => choices.length > 0);
}

function commands(): Choice[] {
  const others = LANGUAGES.filter((code) => code !== language.value);
  const zones = own === "UTC" ? [] : [zone.value === "UTC" ? own : "UTC"];
  return [
    ...zones.map((other) => ({
      name: other === "UTC" ? say("utc") : say("own_zone", { zone: own }),
      run: () => chooseZone(other),
    })),
    ...THEMES.filter((other) => other !== theme.value).map((other) => ({
      name: say("theme", { name: say(other) }),
      run: () => chooseTheme(other),
    })),
    ...others.map((other) => ({
      name: say("speak", { name: nameOf(other) }),
      run: () => void choose(other).catch(refused),
    })),
    { name: say("refresh"), run: refreshAll },
  ];
}

/** What the API found for the text. */
export function ofGroups(text: string, groups: Group[]): Choices[] {
  return groups.map((group) => ({
    title: say(group.kind),
    choices: [...group.items.map((item) => ofItem(group, item)), ...furtherOn(text, group)],
  }));
}

function ofItem({ kind, scanned }: Group, item: Suggestion): Choice {
  const of = scanned?.rows ?? 0;
  const words = kind === "error" ? "failures" : "counted";
  const counted = item.count === null ? "" : say(words, { n: item.count, of });
  const known = [item.type, item.status && sayStatus(item.status)].filter(Boolean).join(", ");
  return { name: item.value, detail: known || counted, run: () => go(placeOf(kind, item.value)) };
}

function placeOf(kind: Group["kind"], value: string): string {
  switch (kind) {
    case "action":
    case "payload":
      return href("actions", value);
    case "job":
      return href("jobs", value);
    case "correlation":
      return href("actions", { correlation_id: value });
    case "type":
      return href("actions", { type: value });
    case "error":
      return href("actions", { error: value, status: "failed" });
  }
}

/** The whole list of what matches by contents: the search box compared a bounded number of actions. */
function furtherOn(text: string, { kind, scanned }: Group): Choice[] {
  if (!scanned || (kind !== "error" && kind !== "payload")) return [];
  const filters =
    kind === "error" ? { error: text, status: "failed" } : { payload: text.replace(/^payload\./, "") };
  return [{ name: say("all", { n: scanned.rows }), run: () => go(href("actions", filters)) }];
}
