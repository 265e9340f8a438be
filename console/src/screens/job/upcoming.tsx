// The next ten times of a job, with how far each is, and what is special about it.

import { now } from "../../clock";
import { useQuery } from "../../query";
import { Time } from "../../time";
import { Part } from "../../ui/page";
import { Empty, Shown } from "../../ui/states";
import { isPaused, type Job } from "./accounts";
import { reasonOf } from "./shared.words";
import { clock, isFine, Local } from "./times";
import { type Coming, upcoming } from "./next";
import { say } from "./upcoming.words";

const SHOWN = 10;
const SILENT = ["skipped", "calendar", "cancelled"];

export function Upcoming({ job }: { job: Job }) {
  const pauses = [job.paused, ...job.cadences.map((each) => each.paused)].map(
    (each) => each?.until ?? !!each,
  );
  const live = useQuery(
    (signal) => upcoming(job, signal),
    ["upcoming", job.name, job.version, job.enabled, ...pauses].join(" "),
    15_000,
  );
  return (
    <Part title={say("title")}>
      <Shown live={live}>
        {(found) => {
          const ahead = found.filter((each) => !each.at || Date.parse(each.at) > now.value).slice(0, SHOWN);
          if (ahead.length === 0) {
            return (
              <Empty title={say(job.enabled ? "none" : "gone")}>
                <p>{say(job.enabled ? "none_why" : "gone_why")}</p>
              </Empty>
            );
          }
          return (
            <ol class="coming">
              {ahead.map((each) => (
                <One
                  key={`${each.at} ${each.local}`}
                  each={each}
                  isFine={isFine(ahead)}
                  isPausedThen={each.at !== null && isPaused(job, { ...each, at: each.at })}
                  names={job.cadences.length > 1 ? each.cadences.join(", ") : ""}
                />
              ))}
            </ol>
          );
        }}
      </Shown>
    </Part>
  );
}

interface OneProps {
  each: Coming;
  names: string;
  isFine: boolean;
  isPausedThen: boolean;
}

function One({ each, names, isFine, isPausedThen }: OneProps) {
  const isSilent = isPausedThen || (each.known && SILENT.includes(each.known.account));
  return (
    <li class={isSilent || !each.at ? "is-silent" : ""}>
      <span class="coming-away">{each.at ? <Time at={each.at} as="away" /> : "–"}</span>
      <div>
        {each.at ? (
          <Local at={each.at} local={each.local} tz={each.tz} isFine={isFine} />
        ) : (
          <s>
            {each.local.slice(0, 10)} {clock(each.local, isFine)}
          </s>
        )}
        {isSilent && (
          <>
            <span class="badge is-skipped">
              <span aria-hidden="true">↷</span> {say("will_skip")}
            </span>
            <small>{reasonOf(each.known?.reason || (isPausedThen ? "paused" : ""))}</small>
          </>
        )}
        {each.marks.map(({ mark }) => (
          <span class="badge is-missed" key={mark}>
            {say(mark)}
          </span>
        ))}
        {names && <small>{names}</small>}
        {each.known?.deadline_at && (
          <small>
            {say("deadline")} <Time at={each.known.deadline_at} as="short" />
            {each.known.deadline === "at_risk" && <> · {say("at_risk")}</>}
          </small>
        )}
        {each.marks.map(({ mark, note }) => (
          <small class="note" lang="en" key={mark}>
            {note}
          </small>
        ))}
      </div>
    </li>
  );
}
