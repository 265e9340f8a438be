// The fields of a cadence that is tried: what, in which zone, from when.

import { present } from "../clock";
import { own } from "../time";
import { Field } from "../ui/act";
import { showToast } from "../ui/toasts";
import { beginOf, daysAfter, isZone, localDay, nextChange, ZONES } from "../zones";
import type { PreviewRequest } from "./cadence-load";
import { say } from "./cadences.words";

interface Props {
  draft: PreviewRequest;
  change: (next: Partial<PreviewRequest>) => void;
}

export function CadenceFields({ draft, change }: Props) {
  const named = /\stz=(\S+)/.exec(draft.cadence)?.[1];
  const zone = named && isZone(named) ? named : isZone(draft.tz) ? draft.tz : own;

  const toNextChange = () => {
    const after = draft.from ? beginOf(daysAfter(draft.from, 2), zone) : present();
    const at = nextChange(zone, after);
    if (at === null) showToast(say("no_change", { zone }));
    else change({ from: daysAfter(localDay(zone, at), -1) });
  };

  return (
    <form class="part cadence-fields" onSubmit={(event) => event.preventDefault()}>
      <Field label={say("expression")} hint={say("expression_hint")}>
        <input
          class="mono"
          type="text"
          value={draft.cadence}
          placeholder="30 2 * * *"
          maxLength={1900}
          spellcheck={false}
          autocomplete="off"
          autocapitalize="off"
          onInput={(event) => change({ cadence: event.currentTarget.value })}
        />
      </Field>
      <div class="filters">
        <Field label={say("zone")}>
          <input
            type="text"
            list="zones"
            value={draft.tz}
            spellcheck={false}
            autocomplete="off"
            onInput={(event) => change({ tz: event.currentTarget.value.trim() })}
          />
        </Field>
        <datalist id="zones">
          {ZONES.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
        <Field label={say("from")}>
          <input
            type="date"
            title={say("from_hint")}
            value={draft.from}
            onInput={(event) => change({ from: event.currentTarget.value })}
          />
        </Field>
        <button type="button" disabled={!draft.from} onClick={() => change({ from: "" })}>
          {say("now")}
        </button>
        <button type="button" onClick={toNextChange}>
          {say("change")}
        </button>
      </div>
      {named && named !== draft.tz && <p class="muted">{say("own_zone", { zone: named })}</p>}
    </form>
  );
}
