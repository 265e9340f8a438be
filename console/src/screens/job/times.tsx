// The times of a day or an hour: the status of each, and why. Equal ones in a row are one line.

import { present } from "../../clock";
import { useState } from "preact/hooks";
import { useQuery } from "../../query";
import { href } from "../../route";
import { Time, written, zone } from "../../time";
import { Empty, Shown } from "../../ui/states";
import { locale } from "../../words";
import { accounts, type Job, type Occurrence } from "./accounts";
import { say } from "./calendar.words";
import { justBefore } from "./days";
import { account, reasonOf } from "./shared.words";

const MARKS: Record<Occurrence["account"], string> = {
  executed: "✓",
  failed: "✕",
  cancelled: "⊘",
  skipped: "↷",
  missed: "!",
  processing: "◐",
  pending: "○",
  upcoming: "○",
  calendar: "–",
  gap: "–",
  forgotten: "–",
};

const GRACE = 3_600_000;

interface TimesProps {
  job: Job;
  title: string;
  start: number;
  end: number;
}

export function Times({ job, title, start, end }: TimesProps) {
  const [calls, setCalls] = useState(1);
  const isOver = end < present() - GRACE;
  const live = useQuery(
    (signal) => accounts(job.name, justBefore(start), justBefore(end), calls, signal),
    ["times", job.name, start, calls, zone.value].join(" "),
    isOver ? Number.POSITIVE_INFINITY : 10_000,
  );
  return (
    <div class="times">
      <h3>{title}</h3>
      <Shown live={live}>
        {(found) =>
          found.entries.length === 0 ? (
            <Empty title={say("none")}>
              <p>{say("none_why")}</p>
            </Empty>
          ) : (
            <>
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse scrolls it */}
              <div class="times-list" tabIndex={0} role="region" aria-label={title}>
                <table class="folds job-table">
                  <thead>
                    <tr>
                      <th scope="col">{say("local")}</th>
                      <th scope="col">{say("account")}</th>
                      <th scope="col">{say("run")}</th>
                    </tr>
                  </thead>
                  <tbody>
                    {found.entries.map((each) => (
                      <Row
                        key={each.at + each.cadences}
                        each={each}
                        job={job}
                        day={start}
                        isFine={isFine(found.entries)}
                      />
                    ))}
                  </tbody>
                </table>
              </div>
              {found.cutAt && (
                <button type="button" onClick={() => setCalls(calls + 1)}>
                  {say("more")}
                </button>
              )}
            </>
          )
        }
      </Shown>
    </div>
  );
}

function Row({ each, job, day, isFine }: { each: Occurrence; job: Job; day: number; isFine: boolean }) {
  const cadences = job.cadences.length > 1 ? each.cadences.join(", ") : "";
  return (
    <tr>
      <td data-label={say("local")}>
        <span>
          <Local at={each.at} local={each.local} tz={each.tz} near={day} isFine={isFine} />
          {(each.until || each.count !== 1) && <Fold each={each} />}
        </span>
      </td>
      <td data-label={say("account")}>
        <span>
          <AccountBadge account={each.account} /> {reasonOf(each.reason)}
          {each.note && (
            <small class="note" lang="en">
              {each.note}
            </small>
          )}
          {cadences && <small class="note">{cadences}</small>}
          {each.deadline && each.deadline_at && (
            <small class="note">
              {say(`deadline_${each.deadline}`)} (<Time at={each.deadline_at} as="short" />)
            </small>
          )}
        </span>
      </td>
      <td data-label={say("run")}>
        {each.action_id && (
          <a
            class="nowrap"
            href={href("actions", each.action_id)}
            title={each.action_id}
            aria-label={say("open_of", { at: clock(each.local) })}
          >
            {say("open")}
          </a>
        )}
      </td>
    </tr>
  );
}

function Fold({ each }: { each: Occurrence }) {
  const [before, after] = say("till", { at: "\n" }).split("\n");
  return (
    <small class="note">
      {each.count === null ? say("many") : say("times", { n: each.count })}
      {each.until && (
        <>
          , {before}
          <Time at={each.until} />
          {after}
        </>
      )}
    </small>
  );
}

export function AccountBadge({ account: each }: { account: Occurrence["account"] }) {
  return (
    <span class={`badge is-${each}`}>
      <span aria-hidden="true">{MARKS[each]}</span> {account(each)}
    </span>
  );
}

/** Whether any has seconds: then all show seconds. */
export function isFine(times: { local: string }[]): boolean {
  return times.some((each) => each.local.slice(17, 19) !== "00");
}

/** The wall clock of a cadence's zone. */
export function clock(local: string, isFine = true): string {
  return local.slice(11, isFine ? 19 : 16);
}

interface LocalProps {
  at: string;
  local: string;
  tz: string;
  /** The shown day; a time of another day shows its date. */
  near?: number;
  isFine: boolean;
}

/** An instant as the wall clock of a cadence's zone shows it; with its day where that is not the reader's. */
export function Local({ at, local, tz, near, isFine }: LocalProps) {
  const wall = new Date(`${local.slice(0, 19)}Z`);
  const shown = new Intl.DateTimeFormat(locale.value, {
    timeZone: "UTC",
    weekday: "short",
    day: "numeric",
    month: "short",
  }).format(wall);
  const reader = new Intl.DateTimeFormat("en-CA", { timeZone: zone.value }).format(near ?? 0);
  const isElsewhere = written(at, "clock") !== local.slice(11, 19);
  return (
    <span class="local" title={new Date(at).toISOString()}>
      {(near === undefined || reader !== local.slice(0, 10)) && `${shown}, `}
      <b>{clock(local, isFine)}</b> <small>{tz}</small>
      {isElsewhere && (
        <small class="note">
          {written(at, isFine ? "clock" : "minute")} {zone.value}
        </small>
      )}
    </span>
  );
}
