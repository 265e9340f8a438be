// One thing that was given up, with its body.

import { api, call, type Schemas } from "../api";
import { kindOfUndelivered } from "../kinds.words";
import { readJson } from "../json";
import { useQuery } from "../query";
import { href } from "../route";
import { Time } from "../time";
import { LongText } from "../ui/long-text";
import { Page, Part } from "../ui/page";
import { Shown } from "../ui/states";
import { Tree } from "../ui/tree";
import { say as shared } from "../words/shared";
import { say } from "./undelivered.words";
import { Action, Redrive } from "./undelivered-parts";

type View = Schemas["UndeliveredView"];

export function UndeliveredInputScreen({ name }: { name: string }) {
  const params = { path: { undelivered_id: name } };
  const live = useQuery(
    (signal) => call(api.GET("/undelivered/{undelivered_id}", { params, signal })),
    `undelivered input ${name}`,
  );
  const view = live.value;
  return (
    <Page
      title={view ? titled(`${kindOfUndelivered(view.kind)} · ${view.source}`) : say("thing")}
      above={<a href={href("undelivered")}>{shared("undelivered")}</a>}
      aside={view && !view.is_cut && <Redrive each={view} kind="main" />}
    >
      <Shown live={live}>{(thing) => <Thing view={thing} />}</Shown>
    </Page>
  );
}

function Thing({ view }: { view: View }) {
  return (
    <>
      <Part title={shared("details")}>
        <dl class="facts">
          <dt>{say("reason")}</dt>
          <dd>{view.reason}</dd>
          <dt>{say("count")}</dt>
          <dd>{say("count_name", { n: view.count })}</dd>
          <dt>{say("first")}</dt>
          <dd>
            <Time at={view.first_at} as="full" />
          </dd>
          <dt>{say("last")}</dt>
          <dd>
            <Time at={view.last_at} as="full" />
          </dd>
          <dt>{say("action")}</dt>
          <dd>{view.action_id ? <Action each={view} /> : say("no_action")}</dd>
          {view.tenant_id && (
            <>
              <dt>{say("tenant")}</dt>
              <dd>{view.tenant_id}</dd>
            </>
          )}
          <dt>{say("id")}</dt>
          <dd class="mono">{view.id}</dd>
          {!view.is_cut && (
            <>
              <dt>{say("effect")}</dt>
              <dd>
                {say(`does_${view.kind}`)} {view.kind === "event" && say("lost_event")}
              </dd>
            </>
          )}
        </dl>
      </Part>
      <Part title={say("body")}>
        {view.is_cut && <p class="stale">{say("cut")}</p>}
        {view.body === null ? <p>{say("withheld")}</p> : <Body text={view.body} />}
      </Part>
    </>
  );
}

function Body({ text }: { text: string }) {
  const read = readAs(text);
  if (read !== undefined) return <Tree value={read} />;
  return (
    <pre class="body" tabIndex={0} role="group" aria-label={say("body")}>
      <LongText text={text} />
    </pre>
  );
}

function titled(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function readAs(text: string): unknown {
  try {
    return readJson(text);
  } catch {
    return undefined;
  }
}
