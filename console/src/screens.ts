// The screens. Each is a file that is loaded when it is first shown; the others follow while the browser is
// idle, so that a way to them needs no wait and outlasts a new deployment.

import { signal } from "@preact/signals";
import type { ComponentType } from "preact";

type Screen = ComponentType<{ name: string }>;
type Load = () => Promise<Screen>;

const pauses: Load = async () => (await import("./screens/pauses")).PausesScreen;

const ALL: Record<string, Load> = {
  "": async () => (await import("./screens/overview")).OverviewScreen,
  jobs: async () => (await import("./screens/jobs")).JobsScreen,
  "job-editor": async () => (await import("./screens/job-editor")).JobEditorScreen,
  load: async () => (await import("./screens/load")).LoadScreen,
  actions: async () => (await import("./screens/actions")).ActionsScreen,
  batches: async () => (await import("./screens/batches")).BatchesScreen,
  "dead-letters": async () => (await import("./screens/dead-letters")).DeadLettersScreen,
  pauses,
  limits: async () => (await import("./screens/limits")).LimitsScreen,
  quotas: async () => (await import("./screens/quotas")).QuotasScreen,
  recount: async () => (await import("./screens/recount")).RecountScreen,
  undelivered: async () => (await import("./screens/undelivered")).UndeliveredScreen,
  notifications: async () => (await import("./screens/notifications")).NotificationsScreen,
  cadences: async () => (await import("./screens/cadences")).CadencesScreen,
  preferences: async () => (await import("./screens/preferences")).PreferencesScreen,
};

const ONE: Record<string, Load> = {
  jobs: async () => (await import("./screens/job")).JobScreen,
  actions: async () => (await import("./screens/action")).ActionScreen,
  batches: async () => (await import("./screens/batch")).BatchScreen,
  undelivered: async () => (await import("./screens/undelivered-input")).UndeliveredInputScreen,
  pauses,
};

/** What was loaded; null where the file was out of reach. */
const loaded = signal<ReadonlyMap<Load, Screen | null>>(new Map());
const begun = new Map<Load, Promise<void>>();

function begin(load: Load): Promise<void> {
  const known = begun.get(load) ?? follow(load);
  begun.set(load, known);
  return known;
}

async function follow(load: Load): Promise<void> {
  const screen = await load().catch(() => null);
  loaded.value = new Map(loaded.peek()).set(load, screen);
}

const loadOf = ([section = "", name = "", more]: string[]) =>
  more === undefined ? (name ? ONE : ALL)[section] : undefined;

/** Load the screen of a place: what it reads then goes with what the frame reads. */
export async function loadScreen(parts: string[]): Promise<void> {
  const load = loadOf(parts);
  if (load) await begin(load);
}

/** The screen of a place: undefined while it is loaded, null if out of reach, "none" if there is none. */
export function screenOf(parts: string[]): Screen | undefined | null | "none" {
  const load = loadOf(parts);
  if (!load) return "none";
  void begin(load);
  return loaded.value.get(load);
}

let isFollowing = false;

/** Load the other screens, one at a time; without effect where one is out of reach. */
export async function loadOthers(): Promise<void> {
  if (isFollowing) return;
  isFollowing = true;
  for (const load of [...Object.values(ALL), ...Object.values(ONE)]) {
    await new Promise((resolve) => (globalThis.requestIdleCallback ?? setTimeout)(resolve));
    await load().catch(() => {});
  }
}
