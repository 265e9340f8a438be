// The filters of a list of actions. They are in the address, so that the way back and a link bring them
// again; a choice holds at once, a text when one leaves its field or says Show, and a bulk action takes what
// the fields say.

import { useEffect, useRef } from "preact/hooks";
import { href } from "../route";
import { zone } from "../time";
import { Field } from "../ui/act";
import { CopyCommands } from "../ui/copy-commands";
import { isNarrow } from "../ui/narrow";
import { UnusableNote } from "../ui/unusable";
import { STATUS_FILTERS, status as sayStatus, type StatusFilter } from "../words/shared";
import type { FilterState } from "./filter-state";
import {
  type Filters,
  inAddress,
  inRequest,
  instantOf,
  isAny,
  localOf,
  optionsOf,
  TEXTS,
  TIMES,
  type TimeName,
} from "./filters";
import { say } from "./filters.words";

/** Characters of an error's text and of a payload field. */
const LONGEST_TEXT = 200;

interface FilterFormProps {
  state: FilterState;
  /** Names of types, to choose from. */
  types: string[];
  /** Which of the times may be said, with their labels. */
  times: Partial<Record<TimeName, string>>;
  hasStatus?: boolean;
}

export function FilterForm({ state, types, times, hasStatus }: FilterFormProps) {
  const { at, applied: filters } = state;
  const form = useRef<HTMLFormElement>(null);
  const more = useRef<HTMLDetailsElement>(null);
  const key = JSON.stringify([filters, zone.value, isNarrow.value]);
  const hidden: (keyof Filters)[] = [
    ...TIMES,
    "job",
    "error",
    "payload",
    ...(isNarrow.value ? (["type", "status"] as const) : []),
  ];
  const hasMore = hidden.some((name) => filters[name] !== undefined);
  useEffect(() => {
    if (form.current) fill(form.current, filters);
    if (more.current && hasMore) more.current.open = true; // it is closed by its reader alone
  }, [key]);
  const take = () => form.current && state.type(read(form.current, filters));
  const apply = () => {
    take();
    state.apply();
  };
  const type = (
    <>
      <Field label={say("type")}>
        <input name="type" dir="auto" list="known-types" autocomplete="off" />
      </Field>
      <datalist id="known-types">
        {types.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
    </>
  );
  const statuses = hasStatus && (
    <fieldset class="choices">
      <legend class="hidden">{say("status")}</legend>
      {STATUS_FILTERS.map((each) => (
        <label key={each} class={`choice is-${each}`}>
          <input type="checkbox" name="status" value={each} /> {sayStatus(each)}
        </label>
      ))}
    </fieldset>
  );
  const commands = (
    <CopyCommands
      words={[at === "actions" ? "actions" : "dead-letters", "list", ...optionsOf(filters)]}
      path={at === "actions" ? "/actions/query" : "/dead-letters"}
      query={{ ...inRequest(filters), status: filters.status?.join(",") }}
    />
  );
  return (
    <form
      ref={form}
      class="filter-form"
      role="search"
      aria-label={say("filters")}
      onInput={take}
      onChange={apply}
      onSubmit={(event) => {
        event.preventDefault();
        apply();
      }}
    >
      <div class="filters">
        <div class="find">
          <Field label={say("find")}>
            <input
              type="search"
              name="correlation_id"
              dir="auto"
              placeholder={say("find_hint")}
              autocomplete="off"
            />
          </Field>
        </div>
        {!isNarrow.value && type}
        <button type="submit" class="is-main">
          {say("show")}
        </button>
      </div>
      {!isNarrow.value && statuses}
      <div class="filter-end">
        <details ref={more} class="more-filters">
          <summary>{say(isNarrow.value ? "more_narrow" : "more")}</summary>
          <div class="filters">
            {isNarrow.value && type}
            {isNarrow.value && statuses}
            <Field label={say("job")}>
              <input name="job" dir="auto" autocomplete="off" />
            </Field>
            <Field label={say("error")}>
              <input name="error" dir="auto" autocomplete="off" maxLength={LONGEST_TEXT} />
            </Field>
            <Field label={say("payload")}>
              <input
                name="payload"
                dir="auto"
                autocomplete="off"
                placeholder="customer=42"
                maxLength={LONGEST_TEXT}
              />
            </Field>
            {Object.entries(times).map(([name, label]) => (
              <Field key={name} label={label}>
                <input type="datetime-local" name={name} step="1" />
              </Field>
            ))}
            <small>{say("zone", { zone: zone.value })}</small>
          </div>
          {isNarrow.value && commands}
        </details>
        {!isNarrow.value && commands}
        <a class={isAny(filters) ? "clear" : "clear is-idle"} href={href(at)}>
          {say("clear")}
        </a>
      </div>
      <UnusableNote unusable={state.unusable} rest={href(at, inAddress(filters))} />
    </form>
  );
}

function fill(form: HTMLFormElement, filters: Filters): void {
  for (const field of form.elements) {
    if (!(field instanceof HTMLInputElement)) continue;
    const name = field.name as keyof Filters;
    if (name === "status") field.checked = filters.status?.includes(field.value as StatusFilter) ?? false;
    else if (field.type === "datetime-local") field.value = localOf(filters[name] as string | undefined);
    else field.value = (filters[name] as string | undefined) ?? "";
  }
}

/** What the fields say; a time whose field shows it unchanged stays to the millisecond. */
function read(form: HTMLFormElement, before: Filters): Filters {
  const said = new FormData(form);
  const filters: Filters = {};
  const status = said.getAll("status") as StatusFilter[];
  if (status.length > 0) filters.status = status;
  for (const name of TEXTS) {
    const text = String(said.get(name) ?? "").trim();
    if (text) filters[name] = text;
  }
  for (const name of TIMES) {
    const local = String(said.get(name) ?? "");
    const at = local && local === localOf(before[name]) ? before[name] : instantOf(local);
    if (at) filters[name] = at;
  }
  return filters;
}
