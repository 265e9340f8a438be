// Redriving many: first what would be redriven, then these.

import { useState } from "preact/hooks";
import { api, call, type Schemas } from "../api";
import { kindOfUndelivered, UNDELIVERED_KINDS, type UndeliveredKind } from "../kinds.words";
import { href } from "../route";
import { Time } from "../time";
import { Act, Field } from "../ui/act";
import { Part } from "../ui/page";
import { refused } from "../ui/toasts";
import { number } from "../words";
import { say as shared } from "../words/shared";
import { say } from "./undelivered.words";

const MOST = 1_000;
const LISTED = 10;

type Summary = Schemas["UndeliveredSummary"];

async function redrive(kind: UndeliveredKind | "", limit: number, dry_run: boolean): Promise<Summary[]> {
  const body = { ids: null, kind: kind || null, limit, dry_run };
  return (await call(api.POST("/undelivered/redrive", { body }))).items;
}

export function RedriveMany() {
  const [kind, setKind] = useState<UndeliveredKind | "">("");
  const [seen, setSeen] = useState<Summary[]>();
  const [isBusy, setBusy] = useState(false);

  const look = async () => {
    setBusy(true);
    try {
      setSeen(await redrive(kind, MOST, true));
    } catch (error) {
      refused(error);
    } finally {
      setBusy(false);
    }
  };

  return (
    <Part title={say("many")}>
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault();
          void look();
        }}
      >
        <Field label={say("which")}>
          <select
            value={kind}
            onChange={(event) => {
              setKind(event.currentTarget.value as UndeliveredKind | "");
              setSeen(undefined);
            }}
          >
            <option value="">{say("every_kind")}</option>
            {UNDELIVERED_KINDS.map((each) => (
              <option key={each} value={each}>
                {kindOfUndelivered(each)}
              </option>
            ))}
          </select>
        </Field>
        <button type="submit" disabled={isBusy}>
          {isBusy ? shared("working") : say("dry_run")}
        </button>
      </form>
      <div role="status" class="would">
        {seen && <Would seen={seen} kind={kind} done={() => setSeen(undefined)} />}
      </div>
    </Part>
  );
}

function Would({ seen, kind, done }: { seen: Summary[]; kind: UndeliveredKind | ""; done: () => void }) {
  if (seen.length === 0) return <p>{say("would_none")}</p>;
  const n = seen.length;
  const run = async () => {
    const requested = await redrive(kind, n, false);
    done();
    return say("requested_many", { n: requested.length });
  };
  return (
    <>
      <p>{say("would", { n })}</p>
      <ul>
        {seen.slice(0, LISTED).map((each) => (
          <li key={each.id}>
            <a href={href("undelivered", each.id)}>{kindOfUndelivered(each.kind)}</a> · {each.source} ·{" "}
            <Time at={each.last_at} />
          </li>
        ))}
        {n > LISTED && <li>{say("would_more", { n: number(n - LISTED) })}</li>}
      </ul>
      <Act
        label={say("redrive_many", { n })}
        kind="main"
        run={run}
        ask={{
          title: say("redrive_many_title", { n }),
          go: say("redrive_many", { n }),
          body: (
            <>
              <p>{say("soon")}</p>
              <p>{say("newest_first", { n })}</p>
            </>
          ),
        }}
      />
    </>
  );
}
