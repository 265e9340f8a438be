// In which language mails are, and who gets them.

import { Field } from "../ui/act";
import { locale } from "../words";
import type { Draft, View } from "./preferences-draft";
import { say } from "./preferences.words";

interface Props {
  draft: Draft;
  view: View;
  change: (next: Partial<Draft>) => void;
  mayChoose: boolean;
  isAdmin: boolean;
}

export function MailFields({ draft, view, change, mayChoose, isAdmin }: Props) {
  const languages = [...new Set([...view.languages, view.language])];
  const hasWords = draft.language !== view.language || view.language.startsWith(view.mails_in);
  return (
    <div class="mail-fields">
      <Field label={say("language")} hint={hasWords ? undefined : say("told_in")}>
        <select
          value={draft.language}
          disabled={!mayChoose}
          onChange={(event) => change({ language: event.currentTarget.value })}
        >
          {languages.map((each) => (
            <option key={each} value={each}>
              {nameOf(each)}
            </option>
          ))}
        </select>
      </Field>
      <Addresses
        label={say("addresses")}
        hint={say("addresses_hint")}
        value={draft.addresses}
        change={mayChoose ? (addresses) => change({ addresses }) : undefined}
      />
      {view.admin_addresses && (
        <Addresses
          label={say("admin_addresses")}
          hint={say("admin_hint")}
          value={draft.admin_addresses}
          change={isAdmin ? (admin_addresses) => change({ admin_addresses }) : undefined}
        />
      )}
    </div>
  );
}

interface AddressesProps {
  label: string;
  hint: string;
  value: string;
  /** Missing where the caller may only look. */
  change?: (value: string) => void;
}

function Addresses({ label, hint, value, change }: AddressesProps) {
  return (
    <Field label={label} hint={hint}>
      <textarea
        rows={4}
        spellcheck={false}
        autocomplete="off"
        readOnly={!change}
        placeholder={change ? "ada@example.com" : say("no_addresses")}
        value={value}
        onInput={(event) => change?.(event.currentTarget.value)}
      />
    </Field>
  );
}

function nameOf(language: string): string {
  try {
    return new Intl.DisplayNames(locale.value, { type: "language" }).of(language) ?? language;
  } catch {
    return language;
  }
}
