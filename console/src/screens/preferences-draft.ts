// The unsaved choice, compared with the stored one, so that only changes are sent.

import type { Schemas } from "../api";
import { FOR_ADMINS, type NotificationKind } from "../kinds.words";
import type { Channel } from "./preferences.words";

export type View = Schemas["PreferencesView"];
export type Changes = Schemas["PreferencesRequest"];

export interface Draft {
  language: string;
  /** By kind; null is by default. */
  channels: Partial<Record<NotificationKind, Channel[] | null>>;
  addresses: string;
  admin_addresses: string;
}

export function draftOf(view: View): Draft {
  return {
    language: view.language,
    channels: { ...view.channels },
    addresses: view.addresses.join("\n"),
    admin_addresses: (view.admin_addresses ?? []).join("\n"),
  };
}

/** Where a kind goes by a draft, and whether that was chosen. */
export function channelsOf(kind: NotificationKind, draft: Draft, view: View): [Channel[], boolean] {
  const chosen = draft.channels[kind];
  if (chosen) return [chosen, true];
  if (!FOR_ADMINS.includes(kind)) return [[], false];
  if (view.admin_addresses === null) return [view.channels_in_force[kind] ?? [], false];
  return [addressesIn(draft.admin_addresses).length > 0 ? ["in_app", "email"] : ["in_app"], false];
}

export function addressesIn(text: string): string[] {
  return text.split(/[\s,;]+/).filter(Boolean);
}

/** What a draft changes of what holds; null where that is nothing. */
export function changesOf(draft: Draft, view: View): Changes | null {
  const changes: Partial<Changes> = {};
  if (draft.language !== view.language) changes.language = draft.language;
  const kinds = Object.keys(draft.channels) as NotificationKind[];
  const changed = kinds.filter((each) => !same(draft.channels[each] ?? null, view.channels[each] ?? null));
  if (changed.length > 0) {
    changes.channels = Object.fromEntries(changed.map((each) => [each, draft.channels[each] ?? null]));
  }
  const addresses = addressesIn(draft.addresses);
  if (addresses.join() !== view.addresses.join()) changes.addresses = addresses;
  const forAdmins = addressesIn(draft.admin_addresses);
  if (view.admin_addresses && forAdmins.join() !== view.admin_addresses.join()) {
    changes.admin_addresses = forAdmins;
  }
  return Object.keys(changes).length > 0 ? (changes as Changes) : null;
}

/** What brings back what held before those changes. */
export function undoing(changes: Changes, view: View): Changes {
  const former: Partial<Changes> = {};
  if (changes.language) former.language = view.language;
  if (changes.addresses) former.addresses = view.addresses;
  if (changes.admin_addresses) former.admin_addresses = view.admin_addresses;
  if (changes.channels) {
    const kinds = Object.keys(changes.channels) as NotificationKind[];
    former.channels = Object.fromEntries(kinds.map((each) => [each, view.channels[each] ?? null]));
  }
  return former as Changes;
}

function same(one: Channel[] | null, other: Channel[] | null): boolean {
  if (one === null || other === null) return one === other;
  return [...one].sort().join() === [...other].sort().join();
}
