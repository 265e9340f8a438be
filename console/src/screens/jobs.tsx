// The jobs that a search finds: when they run, how they fared, and the two things that are done to them most, a
// pause and a run by hand.

import { useEffect, useState } from "preact/hooks";
import { can } from "../me";
import { Problem } from "../problem";
import { go, href, place } from "../route";
import { Field } from "../ui/act";
import { Page } from "../ui/page";
import { Empty, Failure, Shown } from "../ui/states";
import { UnusableNote, unusableIn } from "../ui/unusable";
import { say } from "../words/shared";
import { type State, STATES, useJobCounts, useJobPages } from "./jobs.data";
import { say as editor } from "./job-editor.words";
import { JobTable } from "./jobs.table";
import { mine } from "./jobs.words";

/** As the API would answer: it is not asked, since it is known here. */
const FORBIDDEN = new Problem(403, "forbidden", "", "");

/** Milliseconds without a key after which a text is searched for. */
const TYPED = 250;

export function JobsScreen() {
  if (!can("jobs:read")) {
    return (
      <Page title={say("jobs")}>
        <Failure problem={FORBIDDEN} />
      </Page>
    );
  }
  return (
    <Page
      title={say("jobs")}
      aside={
        <>
          <a class="act" href={href("load")}>
            {mine("load")}
          </a>
          {can("jobs:manage") && (
            <a class="act" href={href("job-editor")}>
              {editor("new")}
            </a>
          )}
        </>
      }
    >
      <Found />
    </Page>
  );
}

function None() {
  return (
    <Empty title={mine("no_jobs")}>
      <p>{mine("no_jobs_why")}</p>
    </Empty>
  );
}

function Found() {
  const { query } = place.value;
  const [text, only] = [query.get("q") ?? "", query.get("only") ?? ""];
  const state = STATES.find((known) => known === only);
  const jobs = useJobPages(text, state);
  const isFiltered = text.trim() !== "" || state !== undefined;
  const unusable = unusableIn(query, {
    q: () => true,
    only: (value) => STATES.some((known) => known === value),
  });
  return (
    <>
      <Filters text={text} only={only} />
      <UnusableNote unusable={unusable} rest={href("jobs", { q: text })} />
      <Shown live={jobs} lines={8}>
        {({ items, next }) => {
          if (items.length > 0) return <JobTable jobs={items} pages={jobs} isWhole={!next && !isFiltered} />;
          if (next) return <Further grow={jobs.grow} />;
          if (!isFiltered) return <None />;
          return (
            <Empty title={mine("no_match")}>
              <a href={href("jobs")}>{mine("show_all")}</a>
            </Empty>
          );
        }}
      </Shown>
    </>
  );
}

function Further({ grow }: { grow: () => void }) {
  return (
    <Empty title={mine("none_so_far")}>
      <button type="button" onClick={grow}>
        {mine("further")}
      </button>
    </Empty>
  );
}

function Filters({ text, only }: { text: string; only: string }) {
  const counts = useJobCounts().value;
  const [typed, setTyped] = useState(text);
  const choose = (changed: { q?: string; only?: string }) =>
    go(href("jobs", { q: typed, only, ...changed }), { replace: true });
  useEffect(() => setTyped(text), [text]);
  useEffect(() => {
    if (typed === text) return undefined;
    const timer = setTimeout(() => choose({ q: typed }), TYPED);
    return () => clearTimeout(timer);
  }, [typed, text]);
  const count = (n: number | undefined) => (n === undefined ? "" : ` (${n}${counts?.more ? "+" : ""})`);
  return (
    <search class="filters">
      <Field label={mine("search")}>
        <input
          type="search"
          value={typed}
          maxLength={200}
          placeholder={mine("search_hint")}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
      </Field>
      <Field label={mine("only")}>
        <select value={only} onChange={(event) => choose({ only: event.currentTarget.value as State | "" })}>
          <option value="">
            {mine("all")}
            {count(counts?.total)}
          </option>
          {STATES.map((state) => (
            <option value={state} key={state}>
              {mine(state)}
              {count(counts?.[state])}
            </option>
          ))}
        </select>
      </Field>
    </search>
  );
}
