// What queues, the stream and EventBridge gave up on: the list, for operators.

import { api, call, type Schemas } from "../api";
import { kindOfUndelivered } from "../kinds.words";
import { href, place } from "../route";
import { type PageRead, usePages } from "../shown-pages";
import { Time } from "../time";
import { Page, Part } from "../ui/page";
import { Pager } from "../ui/pager";
import { Runbook } from "../ui/runbook";
import { Empty, Shown } from "../ui/states";
import { UnusableNote, unusableIn } from "../ui/unusable";
import { number } from "../words";
import { say as shared } from "../words/shared";
import { say } from "./undelivered.words";
import { Action, Redrive } from "./undelivered-parts";
import { RedriveMany } from "./undelivered-many";

type Summary = Schemas["UndeliveredSummary"];

const EVERY = 5_000;

async function read(cursor: string | undefined, signal: AbortSignal): Promise<PageRead<Summary>> {
  const page = await call(api.GET("/undelivered", { params: { query: { cursor } }, signal }));
  return { items: page.items, next: page.next_cursor };
}

export function UndeliveredScreen() {
  const { query } = place.value;
  const unusable = unusableIn(query, {});
  const live = usePages<Summary, PageRead<Summary>>(read, "undelivered", EVERY);
  return (
    <Page title={shared("undelivered")}>
      <UnusableNote unusable={unusable} rest={href("undelivered")} />
      <Shown live={live}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title={say("nothing")}>{say("nothing_why")}</Empty>
          ) : (
            <>
              <p class="muted">
                {say("intro")} <Runbook section="something-is-undelivered" />
              </p>
              <Part title={shared("all")}>
                <List items={items} />
                <Pager pages={live} />
              </Part>
              {unusable.length === 0 && <RedriveMany />}
            </>
          )
        }
      </Shown>
    </Page>
  );
}

function List({ items }: { items: Summary[] }) {
  return (
    <table class="folds undelivered">
      <thead>
        <tr>
          <th scope="col">{say("what")}</th>
          <th scope="col">{say("reason")}</th>
          <th scope="col" class="number">
            {say("count")}
          </th>
          <th scope="col">{say("first_last")}</th>
          <th scope="col">{say("action")}</th>
          <th scope="col">
            <span class="hidden">{say("redrive")}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {items.map((each) => (
          <Row key={each.id} each={each} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ each }: { each: Summary }) {
  return (
    <tr>
      <td data-label={say("what")}>
        <span>
          <a href={href("undelivered", each.id)} title={each.id}>
            {kindOfUndelivered(each.kind)}
          </a>
          <small class="source">{say("by", { source: each.source })}</small>
        </span>
      </td>
      <td data-label={say("reason")} class="why">
        <span title={each.reason}>{each.reason}</span>
      </td>
      <td data-label={say("count")} class="number">
        {number(each.count)}
      </td>
      <td data-label={say("first_last")} class="at">
        <span>
          <Time at={each.first_at} />
          {each.count > 1 && (
            <>
              {" – "}
              <Time at={each.last_at} />
            </>
          )}
        </span>
      </td>
      <td data-label={say("action")} class="id">
        <Action each={each} />
      </td>
      <td class="acts">
        <Redrive each={each} />
      </td>
    </tr>
  );
}
