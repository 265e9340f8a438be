// Words that several screens say.

import type { Schemas } from "../api";
import { words } from ".";

export const say = words({
  en: {
    overview: "Overview",
    jobs: "Jobs",
    actions: "Actions",
    dead_letters: "Dead letters",
    batches: "Batches",
    pauses: "Pauses",
    limits: "Rate limits",
    undelivered: "Undelivered",
    notifications: "Notifications",
    cadences: "Try a cadence",
    loading: "Loading",
    more: "Show more",
    newest: "Back to the first page",
    retry: "Try again",
    close: "Close",
    cancel: "Leave it",
    undo: "Undo",
    undone: "Undone.",
    done: "Done",
    working: "Working…",
    none: "none",
    all: "All",
    never: "never",
    status: "Status",
    type: "Type",
    due: "Due",
    job: "Job",
    when: "When",
    why: "Why",
    copy: "Copy",
    copied: "Copied",
    unreachable: "The API does not answer",
    unreachable_why: "What is shown may be old. It is asked again, less and less often, up to once a minute.",
    forbidden: "Your roles do not allow this",
    forbidden_why:
      "You are signed in as {actor} of {tenant}, with {roles}. An admin of your tenant can grant more.",
    no_roles: "no role",
    signed_out: "Your session has ended",
    signed_out_why: "Sign in again. You come back to this place.",
    sign_in: "Sign in again",
    missing: "It is not there",
    missing_why:
      "It may be another tenant's, have been removed at the end of its retention, or never have been.",
    failed: "That did not work",
    changed: "It has changed since you opened this. Close this, reload, then decide.",
    throttled: "The API is asked too often just now; it is tried again soon.",
    read_only: "You may look, and change nothing",
    unit_attempts: { one: "{n} attempt", other: "{n} attempts" },
    lateness: "Late by",
    took: "Took",
    started: "Started",
    ended: "Ended",
    reason: "Reason",
    details: "Details",
    refresh: "Refresh",
  },
  fr: {
    overview: "Vue d'ensemble",
    jobs: "Tâches",
    actions: "Actions",
    dead_letters: "Échecs définitifs",
    batches: "Lots",
    pauses: "Pauses",
    limits: "Limites de débit",
    undelivered: "Non distribués",
    notifications: "Notifications",
    cadences: "Essai de cadence",
    loading: "Chargement",
    more: "Afficher la suite",
    newest: "Revenir à la première page",
    retry: "Réessayer",
    close: "Fermer",
    cancel: "Laisser tel quel",
    undo: "Annuler ce changement",
    undone: "Changement annulé.",
    done: "Fait",
    working: "En cours…",
    none: "aucun",
    all: "Tous",
    never: "jamais",
    status: "État",
    type: "Type",
    due: "Échéance",
    job: "Tâche",
    when: "Quand",
    why: "Pourquoi",
    copy: "Copier",
    copied: "Copié",
    unreachable: "L'API ne répond pas",
    unreachable_why:
      "Ce qui est affiché n'est peut-être plus à jour. De nouveaux essais suivent, de plus en " +
      "plus espacés, au moins un par minute.",
    forbidden: "Vos rôles ne le permettent pas",
    forbidden_why:
      "Vous êtes {actor}, de l'organisation {tenant} ; vos rôles : {roles}. Un administrateur " +
      "de votre organisation peut vous accorder davantage de droits.",
    no_roles: "aucun",
    signed_out: "Votre session a pris fin",
    signed_out_why: "Reconnectez-vous. Vous reviendrez à cet endroit.",
    sign_in: "Se reconnecter",
    missing: "Introuvable",
    missing_why:
      "L'élément appartient peut-être à une autre organisation, a été supprimé au terme de sa " +
      "conservation, ou n'a jamais existé.",
    failed: "L'opération n'a pas abouti",
    changed:
      "Quelqu'un l'a modifié depuis l'ouverture de ce formulaire. Fermez-le, regardez à " +
      "nouveau, puis décidez.",
    throttled: "L'API reçoit trop de demandes en ce moment ; nouvel essai sous peu.",
    read_only: "Consultation seule",
    unit_attempts: { one: "{n} tentative", other: "{n} tentatives" },
    lateness: "Retard",
    took: "Durée",
    started: "Début",
    ended: "Fin",
    reason: "Motif",
    details: "Détails",
    refresh: "Actualiser",
  },
});

export type Status = Schemas["Status"];

export const STATUSES: Status[] = ["pending", "processing", "executed", "failed", "cancelled", "skipped"];

/** `retrying` are the pending ones whose last attempt failed. */
export type StatusFilter = Status | "retrying";
export const STATUS_FILTERS: StatusFilter[] = ["pending", "retrying", ...STATUSES.slice(1)];

/** The status of an action, with `retrying` for those that wait for their next attempt. */
export function statusOf(action: { status: Status; is_retrying?: boolean }): StatusFilter {
  return action.is_retrying ? "retrying" : action.status;
}

export const status = words({
  en: {
    pending: "pending",
    retrying: "retrying",
    processing: "running",
    executed: "executed",
    failed: "failed",
    cancelled: "cancelled",
    skipped: "skipped",
  },
  fr: {
    pending: "en attente",
    retrying: "à réessayer",
    processing: "en cours",
    executed: "exécutée",
    failed: "en échec",
    cancelled: "annulée",
    skipped: "ignorée",
  },
});
