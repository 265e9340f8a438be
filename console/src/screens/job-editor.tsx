// Registering a job, and editing one: a form, and beside it what the job would do.

import { useEffect, useState } from "preact/hooks";
import { api, call, type Schemas } from "../api";
import { canManage } from "../me";
import { Problem } from "../problem";
import { useQuery } from "../query";
import { go, href, place } from "../route";
import { Flawed, type Flaws, Unusable } from "../ui/dialog";
import { Page } from "../ui/page";
import { explained, Shown } from "../ui/states";
import { change } from "../ui/toasts";
import { say as all } from "../words/shared";
import { ZONES } from "../zones";
import { bodyOf, type Draft, draftOf } from "./job-editor.draft";
import { DraftPreview, type DraftRequest } from "./job-editor.preview";
import { say } from "./job-editor.words";

type Job = Schemas["JobView"];

const SETTLED = 400; // milliseconds without a keystroke, after which the draft is previewed
const OVERLAPS = ["skip", "queue_one", "allow", "cancel_running"] as const;
const MORE = [
  ...(["attempts", "backoff", "jitter", "give_up_after"] as const),
  ...([
    "deadline",
    "within",
    "every_success_within",
    "after",
    "after_timeout",
    "category",
    "description",
  ] as const),
] as const;

export function JobEditorScreen() {
  const name = place.value.query.get("job") ?? "";
  return name ? <Edit name={name} key={name} /> : <Editor job={null} etag={null} />;
}

function Edit({ name }: { name: string }) {
  const live = useQuery(
    async (signal) => {
      const request = api.GET("/jobs/{name}", { params: { path: { name } }, signal });
      return { job: await call(request), etag: (await request).response.headers.get("ETag") };
    },
    `edited job ${name}`,
    Number.POSITIVE_INFINITY,
    { isKept: false },
  );
  const [seen, setSeen] = useState<{ job: Job; etag: string | null } | null>(null);
  useEffect(() => {
    if (live.value && !seen) setSeen(live.value);
  }, [live.value]);
  if (seen) return <Editor {...seen} />;
  return (
    <Page title={say("edit", { name })} above={<a href={href("jobs", name)}>{name}</a>}>
      <Shown live={live} lines={8}>
        {() => null}
      </Shown>
    </Page>
  );
}

function Editor({ job, etag }: { job: Job | null; etag: string | null }) {
  const [draft, setDraft] = useState(() => draftOf(job));
  const [flaws, setFlaws] = useState<Flaws>({});
  const [isBusy, setBusy] = useState(false);
  const settled = useSettled(draft);
  const title = job ? say("edit", { name: job.name }) : say("new");
  const above = job ? (
    <a href={href("jobs", job.name)}>{job.name}</a>
  ) : (
    <a href={href("jobs")}>{all("jobs")}</a>
  );
  if (job && (job.origin === "code" || job.redacted.length > 0 || !canManage("jobs:manage", job.tenant_id))) {
    return (
      <Page title={title} above={above}>
        <p>{say(job.origin === "code" ? "code" : "payload_hidden")}</p>
      </Page>
    );
  }
  const save = async () => {
    setBusy(true);
    const found: Flaws = {};
    const isDone = await change(async () => {
      try {
        const saved = await put(draft, job, etag);
        return say("saved", { name: saved.name, n: saved.version });
      } catch (error) {
        Object.assign(found, flawsOf(error));
        throw error;
      }
    });
    setFlaws(found);
    setBusy(false);
    if (isDone) go(href("jobs", draft.name.trim()));
  };
  return (
    <Page title={title} above={above}>
      <div class="columns job-editor">
        <form
          class="part"
          aria-label={title}
          onSubmit={(event) => {
            event.preventDefault();
            void save();
          }}
        >
          <Fields
            draft={draft}
            isNew={!job}
            flaws={flaws}
            change={(next) => setDraft({ ...draft, ...next })}
          />
          <div class="ask-end">
            <button type="submit" class="act is-main" disabled={isBusy}>
              {isBusy ? all("working") : say(job ? "save" : "save_new")}
            </button>
          </div>
        </form>
        <section class="job-draft" aria-label={say("preview")} aria-live="polite">
          <Preview draft={settled} isNew={!job} />
        </section>
      </div>
    </Page>
  );
}

/** The draft, once nothing has been typed for a while. */
function useSettled(draft: Draft): Draft {
  const [settled, setSettled] = useState(draft);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(draft), SETTLED);
    return () => clearTimeout(timer);
  }, [draft]);
  return settled;
}

function Preview({ draft, isNew }: { draft: Draft; isNew: boolean }) {
  if (!draft.name.trim() || !draft.type.trim()) return <p class="muted">{say("waiting")}</p>;
  let body: DraftRequest;
  try {
    body = { ...bodyOf(draft), name: draft.name.trim(), replace: !isNew };
  } catch (error) {
    return <p class="flaw">{(error as Error).message}</p>;
  }
  return <DraftPreview body={body} />;
}

function put(draft: Draft, job: Job | null, etag: string | null) {
  const body = bodyOf(draft);
  if (!job) return call(api.POST("/jobs", { body: { ...body, name: draft.name.trim(), trigger: false } }));
  const header = etag ? { "If-Match": etag } : {};
  return call(api.PUT("/jobs/{name}", { params: { path: { name: job.name }, header }, body }));
}

function flawsOf(error: unknown): Flaws {
  if (error instanceof Unusable) return error.flaws;
  if (!(error instanceof Problem)) return {};
  const flaws = Object.fromEntries(error.errors.map((flaw) => [flaw.where.split(".")[0], flaw.problem]));
  return Object.keys(flaws).length > 0 ? flaws : { form: explained(error).why };
}

interface FieldsProps {
  draft: Draft;
  isNew: boolean;
  flaws: Flaws;
  change: (next: Partial<Draft>) => void;
}

function Fields({ draft, isNew, flaws, change }: FieldsProps) {
  const text = (name: keyof Draft, hint?: string, more: object = {}) => (
    <Flawed label={say(name === "tz" ? "zone" : name)} hint={hint} flaw={flaws[name]}>
      <input
        type="text"
        value={draft[name]}
        autoComplete="off"
        spellcheck={false}
        onInput={(event) => change({ [name]: event.currentTarget.value })}
        {...more}
      />
    </Flawed>
  );
  const area = (name: "payload" | "cadences", hint: string, rows: number) => (
    <Flawed label={say(name)} hint={hint} flaw={flaws[name]}>
      <textarea
        class="mono"
        rows={rows}
        value={draft[name]}
        spellcheck={false}
        onInput={(event) => change({ [name]: event.currentTarget.value })}
      />
    </Flawed>
  );
  return (
    <>
      {flaws.form && (
        <p class="flaw" role="alert" lang="en">
          {flaws.form}
        </p>
      )}
      {isNew && text("name", say("name_hint"), { required: true })}
      {text("type", say("type_hint"), { required: true, list: "job-types" })}
      <Types />
      {area("payload", say("payload_hint"), 4)}
      {area("cadences", say("cadences_hint"), 3)}
      {text("tz", say("zone_hint"), { list: "zones" })}
      <datalist id="zones">
        {ZONES.map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
      <Flawed label={say("overlap")} flaw={flaws.overlap}>
        <select value={draft.overlap} onChange={(event) => change({ overlap: event.currentTarget.value })}>
          {isNew && <option value="">{say("usual")}</option>}
          {OVERLAPS.map((overlap) => (
            <option key={overlap} value={overlap}>
              {say(overlap)}
            </option>
          ))}
        </select>
      </Flawed>
      <Flawed label={say("precision")} flaw={flaws.precision}>
        <select
          value={draft.precision}
          onChange={(event) => change({ precision: event.currentTarget.value })}
        >
          <option value="second">{say("second")}</option>
          <option value="minute">{say("minute")}</option>
        </select>
      </Flawed>
      {text("catch_up", undefined, { inputMode: "numeric" })}
      {text("failure_threshold", undefined, { inputMode: "numeric" })}
      {text("title")}
      <details>
        <summary>{say("retries")}</summary>
        {MORE.map((name) => text(name, name === "backoff" ? say("backoff_hint") : undefined))}
      </details>
    </>
  );
}

/** The types of the known jobs, as suggestions. */
function Types() {
  const live = useQuery(
    (signal) => call(api.GET("/jobs", { params: { query: { limit: 100 } }, signal })),
    "types of jobs",
    Number.POSITIVE_INFINITY,
  );
  const types = new Set(live.value?.items.filter((job) => job.origin === "runtime").map((job) => job.type));
  return (
    <datalist id="job-types">
      {[...types].sort().map((type) => (
        <option key={type} value={type} />
      ))}
    </datalist>
  );
}
