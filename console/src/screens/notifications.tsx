// The inbox of the tenant, and for operators the deployment's. An entry that one user reads is read for all.

import { api, call, type Schemas } from "../api";
import { FOR_ADMINS, kindOfNotification, NOTIFICATION_KINDS, type NotificationKind } from "../kinds.words";
import { can } from "../me";
import { go, href, place, type Query } from "../route";
import { isScope, type Scope, ScopeField, scopeInAddress, scopeName } from "../scope";
import { Act, Field } from "../ui/act";
import { Page, Part } from "../ui/page";
import { type PageRead, usePages } from "../shown-pages";
import { Pager } from "../ui/pager";
import { Empty, Shown } from "../ui/states";
import { UnusableNote, unusableIn } from "../ui/unusable";
import { language } from "../words";
import { say as shared } from "../words/shared";
import { Notification } from "./notification-entry";
import { say } from "./notifications.words";

const AT = "notifications";
const EVERY = 15_000;

type View = Schemas["NotificationView"];

export function NotificationsScreen() {
  const { query } = place.value;
  const scope = scopeInAddress();
  const unread = query.get("unread") === "true";
  const kind = NOTIFICATION_KINDS.find((each) => each === query.get("kind"));
  const filters = { scope, unread, kind, language: language.value };
  const read = async (at: string | undefined, signal: AbortSignal): Promise<PageRead<View>> => {
    const page = await call(
      api.GET("/notifications", { params: { query: { ...filters, cursor: at } }, signal }),
    );
    return { items: page.items, next: page.next_cursor };
  };
  const key = `notifications ${JSON.stringify(filters)}`;
  const live = usePages<View, PageRead<View>>(read, key, EVERY);
  const unusable = unusableIn(query, {
    unread: (value) => ["true", "false"].includes(value),
    kind: () => kind !== undefined,
    scope: isScope,
  });
  const choose = (chosen: Query) =>
    go(href(AT, { ...filters, language: null, scope: scope === "system" && scope, ...chosen }));

  return (
    <Page
      title={shared("notifications")}
      aside={
        <>
          <a class="act" href={href("preferences", { scope: scope === "system" && scope })}>
            {say("preferences")}
          </a>
          {unusable.length === 0 && <ReadAll scope={scope} kind={kind} />}
        </>
      }
    >
      <div class="filters">
        <Field label={say("show")}>
          <select
            value={String(unread)}
            onChange={(event) => choose({ unread: event.currentTarget.value === "true" })}
          >
            <option value="false">{say("all")}</option>
            <option value="true">{say("unread_only")}</option>
          </select>
        </Field>
        <Field label={say("kind")}>
          <select value={kind ?? ""} onChange={(event) => choose({ kind: event.currentTarget.value })}>
            <option value="">{say("any_kind")}</option>
            {kindsSeen(scope).map((each) => (
              <option key={each} value={each}>
                {kindOfNotification(each)}
              </option>
            ))}
          </select>
        </Field>
        <ScopeField
          scope={scope}
          choose={(chosen) => choose({ scope: chosen === "system" && chosen, kind: null })}
        />
      </div>
      <UnusableNote
        unusable={unusable}
        rest={href(AT, { ...filters, language: null, scope: scope === "system" && scope })}
      />
      <Shown live={live}>
        {({ items }) => (
          <>
            <Listed items={items} scope={scope} isFiltered={unread || kind !== undefined} />
            <Pager pages={live} />
          </>
        )}
      </Shown>
    </Page>
  );
}

function Listed({ items, scope, isFiltered }: { items: View[]; scope: Scope; isFiltered: boolean }) {
  if (items.length === 0) {
    const { query } = place.value;
    if (!isFiltered) return <Empty title={say("none")}>{say("none_why")}</Empty>;
    return (
      <Empty title={query.get("unread") === "true" ? say("none_unread") : say("none")}>
        {query.has("kind") && <p>{say("none_so")}</p>}
        <a href={href(AT, { scope: scope === "system" && scope })}>{say("show_all")}</a>
      </Empty>
    );
  }
  const parts = [
    { title: say("unread"), items: items.filter((each) => !each.read_at) },
    { title: say("read"), items: items.filter((each) => each.read_at) },
  ];
  return (
    <>
      {parts
        .filter((each) => each.items.length > 0)
        .map((part) => (
          <Part key={part.title} title={part.title}>
            <ul class="notifications">
              {part.items.map((each) => (
                <Notification key={each.id} view={each} scope={scope} />
              ))}
            </ul>
          </Part>
        ))}
    </>
  );
}

/** The kinds that the caller may see, and that exist in the scope. */
function kindsSeen(scope: Scope): NotificationKind[] {
  if (scope === "system") return NOTIFICATION_KINDS;
  return NOTIFICATION_KINDS.filter((each) => {
    if (FOR_ADMINS.includes(each)) return each !== "scheduling.undelivered" && can("tenant:admin");
    return each.startsWith("jobs.") ? can("jobs:read") : can("actions:read");
  });
}

function ReadAll({ scope, kind }: { scope: Scope; kind: NotificationKind | undefined }) {
  const tenant = scopeName(scope);
  const run = async () => {
    let read = 0;
    let cursor: string | null = null;
    do {
      const step: Schemas["ManyRead"] = await call(
        api.POST("/notifications/read", {
          params: { query: { scope } },
          body: { ids: null, kind: kind ?? null, limit: 100, cursor },
        }),
      );
      read += step.read;
      cursor = step.next_cursor;
    } while (cursor);
    return read > 0 ? say("marked_all", { n: read }) : say("marked_none");
  };
  const body = kind
    ? say("mark_all_kind", { tenant, kind: kindOfNotification(kind) })
    : say("mark_all_body", { tenant });
  return (
    <Act
      label={say("mark_all")}
      run={run}
      ask={{
        title: say("mark_all_title"),
        go: say("mark_all"),
        body: (
          <>
            <p>{body}</p>
            <p>{say("mark_no_way_back")}</p>
          </>
        ),
      }}
    />
  );
}
