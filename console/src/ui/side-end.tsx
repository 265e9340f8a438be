// The end of the navigation: who the reader is, and how the page is shown.

import { config, type SignIn } from "../config";
import { can, me } from "../me";
import { href } from "../route";
import { chooseTheme, THEMES, theme } from "../theme";
import { chooseZone, own, zone } from "../time";
import { choose, LANGUAGES, language, nameOf } from "../words";
import { say as shared } from "../words/shared";
import { ZONES } from "../zones";
import { say } from "./side-end.words";
import { openShortcuts } from "./shortcuts";
import { refused } from "./toasts";

export function SideEnd() {
  return (
    <div class="side-end">
      <p class="who">
        {say("who", { actor: me.value.actor, tenant: me.value.tenant_id })}
        {!can("actions:manage", "jobs:manage") && <span class="chip">{shared("read_only")}</span>}
      </p>
      {can("actions:read", "jobs:read") && <a href={href("quotas")}>{say("quotas")}</a>}
      <label>
        <span>{say("zone")}</span>
        <select value={zone.value} onChange={(event) => chooseZone(event.currentTarget.value)}>
          <option value={own}>{say("own_zone", { zone: own })}</option>
          {ZONES.filter((other) => other !== own).map((other) => (
            <option key={other} value={other}>
              {other}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>{say("language")}</span>
        <select value={language.value} onChange={(event) => void chooseIn(event.currentTarget)}>
          {LANGUAGES.map((code) => (
            <option key={code} value={code} lang={code}>
              {nameOf(code)}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>{say("theme")}</span>
        <select value={theme.value} onChange={(event) => chooseTheme(event.currentTarget.value)}>
          {THEMES.map((name) => (
            <option key={name} value={name}>
              {say(name)}
            </option>
          ))}
        </select>
      </label>
      <button type="button" class="quiet" aria-keyshortcuts="?" onClick={openShortcuts}>
        {say("shortcuts")} <kbd aria-hidden="true">?</kbd>
      </button>
      {config.links.map((each) => (
        <a key={each.href} href={each.href}>
          {each.label}
        </a>
      ))}
      {config.sign_in && (
        <button type="button" class="quiet" onClick={() => void leave(config.sign_in)}>
          {say("sign_out")}
        </button>
      )}
    </div>
  );
}

async function leave(at: SignIn | null): Promise<void> {
  const { signOut } = await import("../session");
  if (at) signOut(at);
}

async function chooseIn(select: HTMLSelectElement): Promise<void> {
  try {
    await choose(select.value);
  } catch {
    refused(new Error(say("no_language", { language: nameOf(select.value) })));
    select.value = language.value;
  }
}
