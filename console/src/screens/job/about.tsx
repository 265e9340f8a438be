// When a job runs, by its cadences, each of which can be paused; and all else that is declared of it.

import type { ComponentChildren } from "preact";
import { canManage } from "../../me";
import { decimal, dollars } from "../../money";
import { href } from "../../route";
import { span, Time } from "../../time";
import { Part } from "../../ui/page";
import { Tree } from "../../ui/tree";
import type { Job } from "./accounts";
import { overlap } from "./acts.words";
import { PauseText } from "./head";
import { say } from "./head.words";
import { PauseAct } from "./pauses";

export function Cadences({ job }: { job: Job }) {
  const mayPause = job.enabled && job.cadences.length > 1 && canManage("jobs:manage", job.tenant_id);
  return (
    <Part title={say("cadences")}>
      {job.cadences.length === 0 && <p>{say("no_cadence")}</p>}
      <ul class="cadences">
        {job.cadences.map((each) => (
          <li key={each.name}>
            <div>
              <p lang="en">{each.words}</p>
              <code>{each.text}</code>
              {each.paused && (
                <div class="notice is-cancelled">
                  <PauseText pause={each.paused} />
                </div>
              )}
            </div>
            {mayPause && <PauseAct job={job} cadence={each} />}
          </li>
        ))}
      </ul>
    </Part>
  );
}

export function About({ job }: { job: Job }) {
  const [before, after] = say("since", { n: job.version, at: "\n" }).split("\n");
  const facts: [string, ComponentChildren][] = [
    [say("name"), <code key="name">{job.name}</code>],
    [say("type"), <code key="type">{job.type}</code>],
    [say("origin"), say(job.origin, { who: job.registered_by })],
    [say("tenant"), job.tenant_id],
    [say("category"), job.category],
    [
      say("version"),
      <span key="since">
        {before}
        <Time at={job.since} as="short" />
        {after}
      </span>,
    ],
    [say("worker"), job.worker],
    [say("overlap"), overlap(job.overlap).replace(/\.$/, "")],
    [say("catch_up"), job.catch_up ? say("catch_up_n", { n: job.catch_up }) : say("catch_up_none")],
    [say("precision"), say(job.precision)],
    [
      say("deadline"),
      job.within
        ? say("within", { span: span(job.within * 1000) })
        : job.deadline && say("by", { at: job.deadline }),
    ],
    [
      say("silence"),
      job.every_success_within && say("every", { span: span(job.every_success_within * 1000) }),
    ],
    [
      say("after"),
      job.after && (
        <span key="after">
          <a href={href("jobs", job.after)}>{job.after}</a>
          {say("after_until", { span: span((job.after_timeout ?? 0) * 1000) })}
        </span>
      ),
    ],
    [
      say("price"),
      job.dollars_per_month !== null &&
        job.runs_per_day !== null &&
        say("price_text", {
          n: job.runs_per_day,
          dollars: dollars(job.dollars_per_month),
          runs: decimal(job.runs_per_day),
        }),
    ],
    [
      say("payload"),
      job.payload === null || job.payload === undefined ? say("nothing") : <Tree value={job.payload} />,
    ],
  ];
  return (
    <Part title={say("about")}>
      <dl class="facts about">
        {facts.map(
          ([label, value]) =>
            value && (
              <>
                <dt>{label}</dt>
                <dd>{value}</dd>
              </>
            ),
        )}
      </dl>
    </Part>
  );
}
