// Trying a cadence: what it means and when it would be due. Cadence, zone and day are in the address, to be
// shared.

import { useEffect, useRef, useState } from "preact/hooks";
import { useQuery } from "../query";
import { go, href, place } from "../route";
import { own } from "../time";
import { Page, Part } from "../ui/page";
import { Empty, Failure, Loading } from "../ui/states";
import { UnusableNote, unusableIn } from "../ui/unusable";
import { say as shared } from "../words/shared";
import { CadenceFields } from "./cadence-fields";
import { load, type PreviewRequest, type Seen } from "./cadence-load";
import { CadenceRefused, CadenceShown } from "./cadence-shown";
import { say } from "./cadences.words";

const SETTLED = 300; // milliseconds without a keystroke, after which it is request
const SELDOM = 86_400_000;
const DAY = /^\d{4}-\d\d-\d\d$/;

export function CadencesScreen() {
  const { query } = place.value;
  const request = requestIn(query);
  const known = { cadence: () => true, tz: () => true, from: (day: string) => DAY.test(day) };
  const [draft, change] = useDraft(request);
  return (
    <Page title={shared("cadences")}>
      <UnusableNote unusable={unusableIn(query, known)} rest={href("cadences", { ...request })} />
      <CadenceFields draft={draft} change={change} />
      {request.cadence.trim() ? (
        <>
          <Result request={request} />
          <Part title={say("examples")}>
            <Examples tz={request.tz} />
          </Part>
        </>
      ) : (
        <Empty title={say("try")}>
          <p>{say("try_why")}</p>
          <Examples tz={request.tz} />
        </Empty>
      )}
    </Page>
  );
}

function requestIn(query: URLSearchParams): PreviewRequest {
  const said = (name: string) => query.get(name) ?? "";
  const from = DAY.test(said("from")) ? said("from") : "";
  return { cadence: said("cadence"), tz: said("tz") || own, from };
}

/**
 * What is typed; once it has settled it goes into the address, and what comes from there is in the fields.
 */
function useDraft(request: PreviewRequest): [PreviewRequest, (next: Partial<PreviewRequest>) => void] {
  const [draft, setDraft] = useState(request);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const shown = useRef(JSON.stringify(request));
  const key = JSON.stringify(request);
  useEffect(() => {
    if (key !== shown.current) {
      clearTimeout(timer.current);
      shown.current = key;
      setDraft(request);
    }
  }, [key]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const change = (next: Partial<PreviewRequest>) => {
    const changed = { ...draft, ...next };
    setDraft(changed);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      go(href("cadences", { ...changed }), { replace: true });
      shown.current = JSON.stringify(requestIn(place.value.query));
    }, SETTLED);
  };
  return [draft, change];
}

function Result({ request }: { request: PreviewRequest }) {
  const live = useQuery((signal) => load(request, signal), `cadence ${JSON.stringify(request)}`, SELDOM);
  const before = useRef<Seen | undefined>(undefined);
  if (live.value) before.current = live.value;
  if (live.problem) return <Failure problem={live.problem} retry={live.refresh} />;
  const seen = live.value ?? before.current;
  if (!seen) return <Loading />;
  return (
    <div class="cadence-result" aria-busy={live.value === undefined}>
      {"refusal" in seen ? <CadenceRefused refusal={seen.refusal} /> : <CadenceShown seen={seen} />}
    </div>
  );
}

const EXAMPLES = [
  ["0 9 * * mon-fri", "ex_workdays"],
  ["30 2 * * *", "ex_gap"],
  ["every 10m window=09:00-17:00 days=mon-fri", "ex_window"],
  ["monthly last 18:00", "ex_last"],
  ["nth_weekday first mon 06:00", "ex_nth"],
  ["weekly mon,fri 06:00 every=2 anchor=2026-01-05", "ex_weeks"],
] as const;

function Examples({ tz }: { tz: string }) {
  return (
    <ul class="cadence-examples" aria-label={say("examples")}>
      {EXAMPLES.map(([cadence, word]) => (
        <li key={cadence}>
          <a href={href("cadences", { cadence, tz })}>
            <code>{cadence}</code>
          </a>
          <span class="muted">{say(word)}</span>
        </li>
      ))}
    </ul>
  );
}
