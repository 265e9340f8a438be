// When something is to be due: in a while, at an instant; or now, where that may be said.

import { useState } from "preact/hooks";
import { zone } from "../time";
import { Flawed, type Flaws, Unusable } from "../ui/dialog";
import { WHOLE, type When } from "./changes";
import { instantOf, localOf } from "./filters";
import { say } from "./when-fields.words";

const UNITS = { seconds: 1, minutes: 60, hours: 3_600, days: 86_400 } as const;
type Unit = keyof typeof UNITS;
type Way = "now" | "in" | "at";

export const WHEN_FIELDS = ["at", "in"];

interface WhenFieldsProps {
  flaws: Flaws;
  ways: Way[];
  /** What the field of an instant says first. */
  at?: string;
}

export function WhenFields({ flaws, ways, at }: WhenFieldsProps) {
  const [way, setWay] = useState<Way>(flaws.at ? "at" : (ways[0] ?? "in"));
  return (
    <fieldset class="when">
      <legend>{say("when")}</legend>
      <div class="choices">
        {ways.map((each) => (
          <label key={each} class="choice">
            <input
              type="radio"
              name="way"
              value={each}
              checked={way === each}
              onChange={() => setWay(each)}
            />{" "}
            {say(each)}
          </label>
        ))}
      </div>
      {way === "in" && (
        <div class="filters">
          <Flawed label={say("length")} flaw={flaws.in}>
            <input type="number" name="in" min="0" step="any" required defaultValue="5" />
          </Flawed>
          <Flawed label={say("unit")}>
            <select name="unit" defaultValue="minutes">
              {Object.keys(UNITS).map((each) => (
                <option key={each} value={each} selected={each === "minutes"}>
                  {say(each as Unit)}
                </option>
              ))}
            </select>
          </Flawed>
        </div>
      )}
      {way === "at" && (
        <Flawed label={say("instant")} hint={say("zone", { zone: zone.value })} flaw={flaws.at}>
          <input type="datetime-local" name="at" step="1" required defaultValue={localOf(at)} />
        </Flawed>
      )}
    </fieldset>
  );
}

/** What the fields say. */
export function whenOf(form: FormData): When {
  const way = form.get("way") as Way;
  if (way === "now") return { in: 0, ...WHOLE };
  if (way === "in") return { in: Number(form.get("in")) * UNITS[form.get("unit") as Unit], ...WHOLE };
  const at = instantOf(String(form.get("at") ?? ""));
  if (!at) throw new Unusable({ at: say("no_instant") });
  return { at, tz: null, ...WHOLE };
}
