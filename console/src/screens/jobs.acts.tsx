// What is done to a job most: pausing it, resuming it, and running it by hand.

import { api, call } from "../api";
import { href } from "../route";
import { written, zone } from "../time";
import { Act, Field } from "../ui/act";
import { called, isOwn, type Job } from "./jobs.data";
import { mine } from "./jobs.words";
import { instantOf } from "./when";

interface Pause {
  reason: string;
  until: string | null;
}

const pause = (name: string, { reason, until }: Pause) =>
  call(
    api.POST("/jobs/{name}/pause", {
      params: { path: { name } },
      body: { reason, until, cadence: null },
    }),
  );

const resume = (name: string) =>
  call(api.POST("/jobs/{name}/resume", { params: { path: { name } }, body: { cadence: null } }));

/** Whether the whole job may run, as a switch. */
export function JobSwitch({ job }: { job: Job }) {
  const label = called(job);
  const name = mine("switch", { job: label });
  const { paused } = job;
  if (paused) {
    const run = async () => {
      await resume(job.name);
      return { text: mine("did_resume", { job: label }), undo: () => pause(job.name, paused) };
    };
    return <Act label={<Knob />} name={name} isOn={false} kind="quiet" run={run} />;
  }
  const run = async (form: FormData) => {
    const until = instantOf(String(form.get("until") ?? ""), zone.value);
    await pause(job.name, { reason: String(form.get("reason") ?? ""), until });
    const text = until
      ? mine("did_pause_until", { job: label, until: written(until, "short") })
      : mine("did_pause", { job: label });
    return { text, undo: () => resume(job.name) };
  };
  const ask = {
    title: mine("pause_title", { job: label }),
    body: <PauseFields isOwn={isOwn(job)} />,
    go: mine("pause_go"),
  };
  return <Act label={<Knob />} name={name} isOn kind="quiet" run={run} ask={ask} />;
}

function Knob() {
  return <span class="knob" aria-hidden="true" />;
}

function PauseFields({ isOwn }: { isOwn: boolean }) {
  return (
    <>
      <p>{mine("pause_body")}</p>
      {isOwn && <p class="stale">{mine("pause_own")}</p>}
      <Field label={mine("pause_reason")} hint={mine("pause_reason_hint")}>
        <input name="reason" maxLength={200} autoComplete="off" />
      </Field>
      <Field label={mine("pause_until")} hint={mine("pause_until_hint", { zone: zone.value })}>
        <input name="until" type="datetime-local" />
      </Field>
    </>
  );
}

/** Runs it by hand; asks first where that is not plain. */
export function RunNow({ job }: { job: Job }) {
  const label = called(job);
  const why = doubts(job);
  const run = async () => {
    const made = await call(
      api.POST("/jobs/{name}/trigger", {
        params: { path: { name: job.name } },
        body: { payload: null },
      }),
    );
    const link = { to: href("actions", made.id), text: mine("see_run") };
    return { text: mine("did_run", { job: label }), link };
  };
  const body = why.map((each) => <p key={each}>{each}</p>);
  const ask =
    why.length > 0 ? { title: mine("run_title", { job: label }), body, go: mine("run_go") } : undefined;
  return <Act label={mine("run_now")} name={mine("run_name", { job: label })} run={run} ask={ask} />;
}

/** What one should know before it is run by hand. */
function doubts(job: Job): string[] {
  const isOfEvents =
    job.cadences.length > 0 && job.cadences.every((each) => each.text.startsWith("on_event"));
  return [
    ...(job.paused ? [mine("run_paused")] : []),
    ...(job.running ? [mine("run_running")] : []),
    ...(isOfEvents ? [mine("run_event")] : []),
  ];
}
