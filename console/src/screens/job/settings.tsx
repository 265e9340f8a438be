// How a job's runs are retried: what was declared, and what operators set, for the whole job and for each
// cadence.

import { useState } from "preact/hooks";
import { api, call, type Schemas } from "../../api";
import { canManage } from "../../me";
import { span } from "../../time";
import { Act } from "../../ui/act";
import { Flawed, type Flaws } from "../../ui/dialog";
import { Part } from "../../ui/page";
import type { Job } from "./accounts";
import { say } from "./settings.words";
import { fallback, fallbackText, readForm, SETTINGS, type Setting, shown, tuningOf, written } from "./tuning";

interface Which {
  job: Job;
  /** One cadence, by name; null for the whole job. */
  cadence: string | null;
}

export function Settings({ job, etag }: { job: Job; etag: string | null }) {
  const rows = [null, ...(job.cadences.length > 1 ? job.cadences.map((each) => each.name) : [])];
  const mayChange = job.enabled && canManage("jobs:manage", job.tenant_id);
  return (
    <Part title={say("title")}>
      <p class="muted">
        {say("what")}{" "}
        {job.retry?.give_up_after && say("give_up", { span: span(job.retry.give_up_after * 1_000) })}
      </p>
      <div class="scrolls">
        <table class="folds job-table">
          <thead>
            <tr>
              <th scope="col">{say("which")}</th>
              {SETTINGS.map((each) => (
                <th scope="col" key={each}>
                  {say(each)}
                </th>
              ))}
              {mayChange && (
                <th scope="col">
                  <span class="hidden">{say("change")}</span>
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {rows.map((cadence) => (
              <tr key={cadence}>
                <td data-label={say("which")}>{cadence ?? say("whole")}</td>
                {SETTINGS.map((each) => (
                  <td data-label={say(each)} key={each}>
                    <Value job={job} cadence={cadence} setting={each} />
                  </td>
                ))}
                {mayChange && (
                  <td class="row-act">
                    <Change job={job} cadence={cadence} etag={etag} />
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Part>
  );
}

/** The value in force, and whether an operator set it; if so, also the declared value. */
function Value({ job, cadence, setting }: Which & { setting: Setting }) {
  const set = tuningOf(job, cadence)[setting];
  const { source, value } = fallback(job, cadence, setting);
  if (set === null) {
    return (
      <span>
        {value || "–"}
        <small class="note">{source}</small>
      </span>
    );
  }
  const declared = job.retry?.[setting];
  return (
    <span>
      <b>{shown(setting, set)}</b>
      <small class="note">
        {say("set_here")}
        {declared !== undefined && `; ${say("declared_is", { value: shown(setting, declared) })}`}
      </small>
    </span>
  );
}

function Change({ job, cadence, etag }: Which & { etag: string | null }) {
  const name = cadence ?? say("whole");
  return (
    <Act
      label={say("change")}
      name={say("change_of", { name })}
      ask={{
        title: say("ask", { name }),
        body: (flaws) => <Fields job={job} cadence={cadence} etag={etag} flaws={flaws} />,
        go: say("save"),
        fields: [...SETTINGS],
      }}
      run={async (form) => {
        const { cadence: _, ...before } = tuningOf(job, cadence);
        await put(job.name, { cadence, ...readForm(form) }, String(form.get("etag") ?? ""));
        return {
          text: say("saved", { name: cadence ?? job.name }),
          undo: () => put(job.name, { cadence, ...before }),
        };
      }}
    />
  );
}

/** As they were when the form was opened: what has changed since is not written over. */
function Fields({ job, cadence, etag, flaws }: Which & { etag: string | null; flaws: Flaws }) {
  const [seen] = useState({ tuning: tuningOf(job, cadence), etag });
  const field = (setting: Setting, inputMode: "numeric" | "decimal" | "text") => (
    <Flawed
      label={say(setting)}
      flaw={flaws[setting]}
      hint={say(`${setting}_hint`, { fallback: fallbackText(job, cadence, setting) })}
    >
      <input
        name={setting}
        inputMode={inputMode}
        autoComplete="off"
        defaultValue={written(seen.tuning[setting])}
      />
    </Flawed>
  );
  return (
    <>
      <input type="hidden" name="etag" value={seen.etag ?? ""} />
      {field("attempts", "numeric")}
      {field("backoff", "text")}
      {field("jitter", "decimal")}
    </>
  );
}

function put(name: string, body: Schemas["SettingsRequest"], etag?: string) {
  const header = etag ? { "If-Match": etag } : {};
  return call(api.PUT("/jobs/{name}/settings", { params: { path: { name }, header }, body }));
}
