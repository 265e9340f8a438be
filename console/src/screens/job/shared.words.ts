// Words that several parts of a job's screen say.

import { words } from "../../words";

export const account = words({
  en: {
    executed: "executed",
    failed: "failed",
    cancelled: "cancelled",
    skipped: "skipped",
    missed: "missed",
    processing: "running",
    pending: "pending",
    upcoming: "to come",
    calendar: "silenced by a calendar",
    gap: "does not exist that day",
    forgotten: "no longer kept",
  },
  fr: {
    executed: "exécutée",
    failed: "échouée",
    cancelled: "annulée",
    skipped: "ignorée",
    missed: "manquée",
    processing: "en cours",
    pending: "en attente",
    upcoming: "à venir",
    calendar: "écartée par un calendrier",
    gap: "n'existe pas ce jour-là",
    forgotten: "plus conservée",
  },
});

export const reason = words({
  en: {
    overlap: "another run had not ended",
    paused: "paused",
    disabled: "the job was removed",
    missed: "not run in time",
    retired: "the schedule changed before",
    covered: "the version before had run it",
    asked: "requested by an operator",
    refused: "its event names no tenant, or followed too many others",
  },
  fr: {
    overlap: "une autre exécution n'était pas terminée",
    paused: "en pause",
    disabled: "la tâche était retirée",
    missed: "personne ne l'a exécutée à temps",
    retired: "la planification a changé avant",
    covered: "la version précédente l'avait exécutée",
    asked: "à la demande de quelqu'un",
    refused: "son événement ne nomme aucune organisation, ou en suivait trop d'autres",
  },
});

const REASONS = [
  "overlap",
  "paused",
  "disabled",
  "missed",
  "retired",
  "covered",
  "asked",
  "refused",
] as const;
export type Reason = (typeof REASONS)[number];

/** A reason in words; a calendar's is its name. */
export function reasonOf(text: string): string {
  return (REASONS as readonly string[]).includes(text) ? reason(text as Reason) : text;
}

export const trigger = words({
  en: {
    scheduled: "scheduled",
    cadence: "cadence",
    "catch-up": "catch-up",
    event: "event",
    manual: "by hand",
    backfill: "backfill",
  },
  fr: {
    scheduled: "planifiée",
    cadence: "cadence",
    "catch-up": "rattrapage",
    event: "événement",
    manual: "à la main",
    backfill: "rattrapage manuel",
  },
});
