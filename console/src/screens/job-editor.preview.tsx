// What a job would do as it is typed: its next runs, the load beside other jobs, its price, its changes.

import { api, call, type Schemas } from "../api";
import { decimal, dollars } from "../money";
import { Problem } from "../problem";
import { useQuery } from "../query";
import { Time } from "../time";
import { Part } from "../ui/page";
import { Failure, Loading } from "../ui/states";
import { ClockMark } from "./cadence-clocks";
import { REFUSED, type Refusal, refusalOf } from "./cadence-load";
import { Sentence } from "./cadence-notes";
import { CadenceRefused } from "./cadence-shown";
import { wall } from "./cadence-times";
import { Changes } from "./job-changes";
import { say } from "./job-editor.words";

type DraftView = Schemas["DraftView"];
export type DraftRequest = Schemas["DraftRequest"];
type Seen = { draft: DraftView } | { refusal: Refusal };

const SHOWN = 5;

async function load(body: DraftRequest, signal: AbortSignal): Promise<Seen> {
  try {
    return { draft: await call(api.POST("/jobs/draft", { body, signal })) };
  } catch (error) {
    if (error instanceof Problem && REFUSED.includes(error.status) && error.more.text !== undefined) {
      return { refusal: refusalOf(error, String(error.more.text)) };
    }
    throw error;
  }
}

export function DraftPreview({ body }: { body: DraftRequest }) {
  const key = `draft ${JSON.stringify(body)}`;
  const live = useQuery((signal) => load(body, signal), key, Number.POSITIVE_INFINITY, { isKept: false });
  if (live.problem) return <Failure problem={live.problem} retry={live.refresh} />;
  if (!live.value) return <Loading lines={6} />;
  if ("refusal" in live.value) return <CadenceRefused refusal={live.value.refusal} />;
  return <Drafted draft={live.value.draft} />;
}

function Drafted({ draft }: { draft: DraftView }) {
  return (
    <>
      {draft.problems.length > 0 && (
        <div class="state is-problem" role="status">
          <p class="state-title">{say("problems")}</p>
          {draft.problems.map((problem) => (
            <p key={problem} lang="en">
              {problem}
            </p>
          ))}
        </div>
      )}
      {!draft.is_new && (
        <Part title={say("changes")}>
          {draft.changes.length === 0 ? (
            <p>{say("same")}</p>
          ) : (
            <>
              <Changes changes={draft.changes} />
              <p class="muted">
                {draft.changes_plan ? say("new_version", { n: draft.version }) : say("same_version")}
              </p>
            </>
          )}
        </Part>
      )}
      {draft.cadences
        .filter((cadence) => cadence.text !== "manual")
        .map((cadence) => (
          <Cadence key={cadence.name} cadence={cadence} />
        ))}
      <Load draft={draft} />
    </>
  );
}

function Cadence({ cadence }: { cadence: Schemas["DraftCadenceView"] }) {
  return (
    <Part title={cadence.words}>
      <code>{cadence.text}</code>
      <h3>{say("next", { zone: cadence.tz })}</h3>
      <ul>
        {cadence.next_runs.slice(0, SHOWN).map((run) => (
          <li key={`${run.at} ${run.local}`}>
            {wall(run.local)} {run.mark && <ClockMark each={run} />}
          </li>
        ))}
      </ul>
      {cadence.changes.length > 0 && (
        <>
          <h3>{say("clocks")}</h3>
          <ul class="clock-changes">
            {cadence.changes.map((change) => (
              <li key={change.local}>
                {wall(change.local)} <ClockMark each={change} />
              </li>
            ))}
          </ul>
        </>
      )}
      {cadence.notes.length > 0 && (
        <>
          <h3>{say("notes")}</h3>
          <ul>
            {cadence.notes.map((note) => (
              <li key={note}>
                <Sentence text={note} />
              </li>
            ))}
          </ul>
        </>
      )}
      {cadence.disagreements.map((text) => (
        <p key={text} lang="en">
          <small>{text}</small>
        </p>
      ))}
    </Part>
  );
}

function Load({ draft }: { draft: DraftView }) {
  return (
    <Part title={say("load")}>
      {draft.runs_per_day === null || draft.dollars_per_month === null ? (
        <p>{say("no_times")}</p>
      ) : (
        <p>
          {say("cost", {
            runs: decimal(draft.runs_per_day),
            dollars: dollars(draft.dollars_per_month),
          })}
        </p>
      )}
      {draft.load.length === 0 && draft.runs_per_day !== null && <p>{say("load_none")}</p>}
      <ul>
        {draft.load.slice(0, SHOWN).map(({ at, runs, jobs }) => (
          <li key={at}>
            <Time at={at} as="short" /> – {say("load_runs", { n: runs, jobs: jobs.join(", ") })}
          </li>
        ))}
      </ul>
      {!draft.load_is_complete && <p class="muted">{say("load_part", { n: draft.load_jobs })}</p>}
    </Part>
  );
}
