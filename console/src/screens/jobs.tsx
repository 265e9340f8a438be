// All jobs: when they run, how they fared, and the two things that are done to them most, a pause and a run
// by hand.

import { can } from "../me";
import { Problem } from "../problem";
import { go, href, place } from "../route";
import { Field } from "../ui/act";
import { Page } from "../ui/page";
import { Empty, Failure, Shown } from "../ui/states";
import { UnusableNote, unusableIn } from "../ui/unusable";
import { say } from "../words/shared";
import { type Group, grouped, type Job, type Jobs, matches, ONLY, type Only, useJobs } from "./jobs.data";
import { say as editor } from "./job-editor.words";
import { type Rates, rateKey, ratesOf } from "./jobs.rates";
import { JobRow } from "./jobs.row";
import { mine } from "./jobs.words";
import { useSummary } from "./overview.data";

/** As the API would answer: it is not asked, since it is known here. */
const FORBIDDEN = new Problem(403, "forbidden", "", "");

export function JobsScreen() {
  const jobs = useJobs();
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
      <Shown live={jobs} lines={8}>
        {(value) => (value.items.length === 0 ? <None /> : <Found jobs={value} />)}
      </Shown>
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

function Found({ jobs }: { jobs: Jobs }) {
  const rates = ratesOf(useSummary().value ?? null);
  const { query } = place.value;
  const [text, only] = [query.get("q") ?? "", query.get("only") ?? ""];
  const isMeant = Object.hasOwn(ONLY, only) ? ONLY[only as Only] : () => true;
  const found = jobs.items.filter((each) => isMeant(each) && matches(each, text));
  const unusable = unusableIn(query, { q: () => true, only: (value) => Object.hasOwn(ONLY, value) });
  return (
    <>
      <Filters jobs={jobs.items} text={text} only={only} />
      <UnusableNote unusable={unusable} rest={href("jobs", { q: text })} />
      {jobs.more && <p class="stale">{mine("more", { n: jobs.items.length })}</p>}
      {found.length === 0 && (
        <Empty title={mine("no_match")}>
          <a href={href("jobs")}>{mine("show_all")}</a>
        </Empty>
      )}
      {found.length > 0 && <JobTable groups={grouped(found)} rates={rates} />}
    </>
  );
}

function Filters({ jobs, text, only }: { jobs: Job[]; text: string; only: string }) {
  const choose = (asked: { q?: string; only?: string }) =>
    go(href("jobs", { q: text, only, ...asked }), { replace: true });
  return (
    <search class="filters">
      <Field label={mine("search")}>
        <input
          type="search"
          value={text}
          placeholder={mine("search_hint")}
          onInput={(event) => choose({ q: event.currentTarget.value })}
        />
      </Field>
      <Field label={mine("only")}>
        <select value={only} onChange={(event) => choose({ only: event.currentTarget.value })}>
          <option value="">
            {mine("all")} ({jobs.length})
          </option>
          {(Object.keys(ONLY) as Only[]).map((each) => (
            <option value={each} key={each}>
              {mine(each)} ({jobs.filter(ONLY[each]).length})
            </option>
          ))}
        </select>
      </Field>
    </search>
  );
}

function JobTable({ groups, rates }: { groups: Group[]; rates: Rates }) {
  return (
    <section class="part" aria-label={say("jobs")}>
      <table class="folds jobs">
        <thead>
          <tr>
            <th scope="col">{say("job")}</th>
            <th scope="col">{mine("cadence")}</th>
            <th scope="col">{mine("next")}</th>
            <th scope="col">{mine("last_runs")}</th>
            <th scope="col">{mine("last")}</th>
            <th scope="col">{mine("active")}</th>
          </tr>
        </thead>
        {groups.map((each) => (
          <GroupRows group={each} rates={rates} key={`${each.kind} ${each.key}`} />
        ))}
      </table>
    </section>
  );
}

function GroupRows({ group, rates }: { group: Group; rates: Rates }) {
  const title = group.kind === "category" ? group.key : mine(`group_${group.kind}`);
  return (
    <tbody>
      {group.kind !== "all" && (
        <tr class="group">
          <th scope="rowgroup" colSpan={6}>
            {title} <span>{mine("group_count", { n: group.jobs.length })}</span>
          </th>
        </tr>
      )}
      {group.jobs.map((each) => (
        <JobRow job={each} rate={rates.get(rateKey(each))} key={rateKey(each)} />
      ))}
    </tbody>
  );
}
