import type { Schemas } from "../api";
import { words } from "../words";

export type Channel = Schemas["Channel"];
export const CHANNELS: Channel[] = ["in_app", "email", "sns"];

export const channel = words({
  en: { in_app: "This list", email: "Mail", sns: "Topic (SNS)" },
  fr: { in_app: "Cette liste", email: "E-mail", sns: "Rubrique SNS" },
});

export const say = words({
  en: {
    title: "Recipients and channels",
    above: "of {tenant}",
    channels: "What goes where",
    kind: "Notification",
    by_default: "by default",
    chosen: "chosen",
    chosen_nowhere: "chosen: nowhere",
    default_nowhere: "by default: nowhere",
    back: "Back to the default",
    back_name: "Back to the default: {kind}",
    tick: "{kind}: {channel}",
    unavailable: "This deployment has no {channel}: notifications for it reach no one until it exists.",
    for_admins: "for admins",
    only_admins: "Only an admin chooses this",
    mails: "Mails",
    language: "Language of mails",
    told_in: "There are no words in this language: mails are in English.",
    addresses: "Addresses",
    addresses_hint: "One a line, 20 at most. They get the mails that are not for admins.",
    admin_addresses: "Addresses of admins",
    admin_hint: "One a line, 20 at most. They get the mails that are for admins.",
    no_addresses: "No address",
    save: "Save",
    discard: "Discard changes",
    saved: "Saved. It applies to notifications from now on.",
    unsaved: "There are changes that are not saved.",
    nothing: "Nothing is changed.",
    changed: "Last changed {when} by {actor}",
    never: "No choices yet: all values are defaults.",
    conflict: "{actor} changed this meanwhile",
    conflict_why:
      "Nothing was saved. Below is what holds now; your changes are put aside. Make those " +
      "again that still fit.",
    someone: "Someone",
    outdated: "{actor} has just changed this",
    outdated_why: "You fill in a form over what held before.",
    take: "Show what holds now, and discard my changes",
  },
  fr: {
    title: "Qui est prévenu de quoi",
    above: "pour {tenant}",
    channels: "Ce qui est envoyé, et où",
    kind: "Notification",
    by_default: "par défaut",
    chosen: "choisi",
    chosen_nowhere: "choisi : nulle part",
    default_nowhere: "par défaut : nulle part",
    back: "Revenir au choix par défaut",
    back_name: "Revenir au choix par défaut : {kind}",
    tick: "{kind} : {channel}",
    unavailable:
      "Ce déploiement n'a pas de canal « {channel} » : ce qui y est envoyé n'atteint personne " +
      "tant qu'il n'en a pas.",
    for_admins: "pour les administrateurs",
    only_admins: "Seul un administrateur choisit cela",
    mails: "E-mails",
    language: "Langue des e-mails",
    told_in: "Il n'existe pas de textes dans cette langue : les e-mails sont en anglais.",
    addresses: "Adresses",
    addresses_hint:
      "Une par ligne, 20 au plus. Elles reçoivent les e-mails qui ne sont pas réservés aux administrateurs.",
    admin_addresses: "Adresses des administrateurs",
    admin_hint: "Une par ligne, 20 au plus. Elles reçoivent les e-mails destinés aux administrateurs.",
    no_addresses: "Aucune adresse",
    save: "Enregistrer",
    discard: "Abandonner les modifications",
    saved: "Enregistré. Les prochaines notifications en tiendront compte.",
    unsaved: "Des modifications ne sont pas enregistrées.",
    nothing: "Rien n'est modifié.",
    changed: "Dernière modification {when} par {actor}",
    never: "Personne n'a encore rien choisi : tout est par défaut.",
    conflict: "{actor} a modifié ces préférences entre-temps",
    conflict_why:
      "Rien n'a été enregistré. Voici ce qui vaut désormais ; vos modifications sont écartées. " +
      "Refaites celles qui conviennent encore.",
    someone: "Quelqu'un",
    outdated: "{actor} vient de modifier ces préférences",
    outdated_why: "Votre saisie part de ce qui valait auparavant.",
    take: "Afficher ce qui vaut désormais et abandonner mes modifications",
  },
});
