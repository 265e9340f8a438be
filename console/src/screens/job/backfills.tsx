// Backfills of a job: choose days and preview their times, follow the progress, pause, resume and cancel.

import { useEffect, useState } from "preact/hooks";
import { api, call, type Schemas } from "../../api";
import { present } from "../../clock";
import { useQuery } from "../../query";
import { canManage } from "../../me";
import { Problem } from "../../problem";
import { Time, written, zone } from "../../time";
import { Act, Field } from "../../ui/act";
import { Unusable } from "../../ui/dialog";
import { Part } from "../../ui/page";
import { Loading } from "../../ui/states";
import { number } from "../../words";
import { status as sayStatus, STATUSES, type Status } from "../../words/shared";
import type { Job } from "./accounts";
import { BackfillDays } from "./backfill-days";
import { say } from "./backfills.words";
import { isDay, plusDays, startOf, today } from "./days";

type Backfill = Schemas["BackfillView"];
type Preview = Schemas["BackfillPreviewView"];
type Verb = keyof typeof STATES;

const STATES = { pause: "paused", resume: "running", cancel: "cancelled" } as const;
const SHOWN = 8;
const MOVING = 5_000;
const RESTING = 60_000;

/** The button that begins a backfill, after a preview. */
export function BackfillAct({ job }: { job: Job }) {
  return (
    <Act
      label={say("act")}
      ask={{
        title: say("ask", { name: job.name }),
        body: <Fields job={job} />,
        go: say("go"),
      }}
      run={async (form) => {
        const range = rangeOf(String(form.get("first")), String(form.get("last")));
        if (!range) throw new Unusable({ first: say("no_day") });
        const begun = await call(
          api.POST("/jobs/{name}/backfills", {
            params: { path: { name: job.name } },
            body: {
              ...range,
              at_once: Number(form.get("at_once")),
              order: form.get("order") === "newest" ? "newest" : "oldest",
              again: form.get("again") !== null,
            },
          }),
        );
        return say("begun", { n: begun.total });
      }}
    />
  );
}

/** The range of two days, both included, that has passed; null where a field is empty. */
function rangeOf(first: string, last: string): { from: string; until: string } | null {
  if (!isDay(first) || !isDay(last)) return null;
  const until = Math.min(startOf(plusDays(last, 1)), present());
  return { from: new Date(startOf(first)).toISOString(), until: new Date(until).toISOString() };
}

function Fields({ job }: { job: Job }) {
  const yesterday = plusDays(today(), -1);
  const [first, setFirst] = useState(yesterday);
  const [last, setLast] = useState(yesterday);
  const [again, setAgain] = useState(false);
  return (
    <>
      <p>{say("what")}</p>
      <BackfillDays
        job={job}
        first={first}
        last={last}
        choose={(from, to) => {
          setFirst(from);
          setLast(to);
        }}
      />
      <Field label={say("from")}>
        <input
          type="date"
          name="first"
          required
          max={today()}
          value={first}
          onInput={(event) => setFirst(event.currentTarget.value)}
        />
      </Field>
      <Field label={say("to")} hint={say("days_hint", { zone: zone.value })}>
        <input
          type="date"
          name="last"
          required
          min={first}
          max={today()}
          value={last}
          onInput={(event) => setLast(event.currentTarget.value)}
        />
      </Field>
      <Field label={say("at_once")} hint={say("at_once_hint")}>
        <input type="number" name="at_once" min={1} max={100} defaultValue="4" required />
      </Field>
      <Field label={say("order")}>
        <select name="order">
          <option value="oldest">{say("oldest")}</option>
          <option value="newest">{say("newest")}</option>
        </select>
      </Field>
      <label class="check">
        <input
          type="checkbox"
          name="again"
          checked={again}
          onInput={(event) => setAgain(event.currentTarget.checked)}
        />{" "}
        {say("again")}
      </label>
      <Previewed job={job} first={first} last={last} again={again} />
    </>
  );
}

interface Chosen {
  job: Job;
  first: string;
  last: string;
  again: boolean;
}

/** The times that would run, and how many already ran. */
function Previewed({ job, first, last, again }: Chosen) {
  const [found, setFound] = useState<Preview | Problem | null>(null);
  useEffect(() => {
    const range = rangeOf(first, last);
    const asking = new AbortController();
    setFound(null);
    if (range) {
      call(
        api.GET("/jobs/{name}/backfills/preview", {
          params: { path: { name: job.name }, query: { ...range, again } },
          signal: asking.signal,
        }),
      ).then(setFound, (error: unknown) => {
        if (!asking.signal.aborted && error instanceof Problem) setFound(error);
      });
    }
    return () => asking.abort();
  }, [job.name, first, last, again]);
  if (found === null) return <Loading lines={2} />;
  if (found instanceof Problem) {
    return (
      <p class="muted" role="status">
        {found.detail}
      </p>
    );
  }
  const left = found.left_out.length;
  return (
    <div role="status">
      <p>
        <strong>{say("would_run", { n: found.items.length })}</strong>
        {left > 0 && <>; {say("would_leave", { n: left })}</>}
      </p>
      <ul class="muted">
        {found.items.slice(0, SHOWN).map((at) => (
          <li key={at}>{written(at)}</li>
        ))}
        {found.items.length > SHOWN && <li>{say("more", { n: found.items.length - SHOWN })}</li>}
        {found.left_out.slice(0, SHOWN).map(({ at, status }) => (
          <li key={at}>
            {written(at)} – {say("left", { status: wordOf(status) })}
          </li>
        ))}
        {left > SHOWN && <li>{say("more", { n: left - SHOWN })}</li>}
      </ul>
    </div>
  );
}

function wordOf(status: string): string {
  const known = STATUSES.find((word: Status) => word === status);
  return known ? sayStatus(known) : say("forgotten");
}

/** The job's backfills with their progress; nothing without one. */
export function Backfills({ job }: { job: Job }) {
  const [every, setEvery] = useState(RESTING);
  const live = useQuery(
    async (signal) => {
      const path = { name: job.name };
      const { items } = await call(api.GET("/jobs/{name}/backfills", { params: { path }, signal }));
      setEvery(items.some((backfill) => !backfill.ended_at) ? MOVING : RESTING);
      return items;
    },
    `backfills ${job.name}`,
    every,
  );
  if (!live.value?.length) return null;
  return (
    <Part title={say("title")}>
      <div class="scrolls">
        <table class="folds">
          <caption class="hidden">{say("title")}</caption>
          <thead>
            <tr>
              <th scope="col">{say("progress")}</th>
              <th scope="col">{say("days")}</th>
              <th scope="col">{say("by")}</th>
              <th scope="col">
                <span class="hidden">{say("act")}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {live.value.map((backfill) => (
              <Row key={backfill.id} job={job} backfill={backfill} />
            ))}
          </tbody>
        </table>
      </div>
    </Part>
  );
}

function Row({ job, backfill }: { job: Job; backfill: Backfill }) {
  const rest = backfill.remaining + backfill.open.length;
  const { executed, failed, left_out } = backfill;
  const gist = say("gist", {
    executed: number(executed),
    failed: number(failed),
    left_out: number(left_out),
    rest: number(rest),
  });
  const mayChange = !backfill.ended_at && backfill.state !== "cancelled";
  return (
    <tr>
      <td data-label={say("progress")}>
        <div class="backfill">
          <code>{backfill.id}</code> {say(backfill.state)}
          <progress max={backfill.total} value={backfill.total - rest} aria-label={gist} />
          <small>{gist}</small>
        </div>
      </td>
      <td data-label={say("days")}>
        <div>{say("span", { from: written(backfill.start), until: written(backfill.until) })}</div>
      </td>
      <td data-label={say("by")}>
        <div>
          <bdi>{backfill.begun_by}</bdi> <Time at={backfill.begun_at} as="away" />
        </div>
      </td>
      <td>
        {mayChange && canManage("jobs:manage", job.tenant_id) && <Changes job={job} backfill={backfill} />}
      </td>
    </tr>
  );
}

function Changes({ job, backfill }: { job: Job; backfill: Backfill }) {
  const { id } = backfill;
  const verb: Verb = backfill.state === "paused" ? "resume" : "pause";
  return (
    <>
      <Act label={say(verb)} name={say(`${verb}_of`, { id })} run={() => change(job.name, id, verb)} />
      <Act
        label={say("cancel")}
        name={say("cancel_of", { id })}
        kind="danger"
        ask={{
          title: say("cancel_title"),
          body: <p>{say("cancel_what")}</p>,
          go: say("cancel_of", { id }),
        }}
        run={() => change(job.name, id, "cancel")}
      />
    </>
  );
}

async function change(name: string, id: string, verb: Verb): Promise<string> {
  const params = { path: { name, backfill_id: id } };
  const body = { state: STATES[verb] };
  const changed = await call(api.PATCH("/jobs/{name}/backfills/{backfill_id}", { params, body }));
  return say("changed", { state: say(changed.state) });
}
