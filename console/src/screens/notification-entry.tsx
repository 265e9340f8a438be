// One notification of the list: how bad it is, what happened, to what, and the way there.

import { api, call, type Schemas } from "../api";
import { type Severity, severity } from "../kinds.words";
import type { Scope } from "../scope";
import { Time } from "../time";
import { Act } from "../ui/act";
import { NotificationFacts } from "./notification-facts";
import { say } from "./notifications.words";

const MARKS: Record<Severity, string> = { info: "i", warning: "!", error: "✕" };

export function Notification({ view, scope }: { view: Schemas["NotificationView"]; scope: Scope }) {
  const isUnread = !view.read_at;
  const read = async () => {
    const to = nextOf(view.id);
    const body = { ids: [view.id], kind: null, limit: 1, cursor: null };
    await call(api.POST("/notifications/read", { params: { query: { scope } }, body }));
    focusOnceGone(view.id, to);
    return say("marked");
  };
  return (
    <li class={`notification is-${view.severity} ${isUnread ? "is-unread" : ""}`}>
      <span class="severity" title={severity(view.severity)}>
        <span aria-hidden="true">{MARKS[view.severity]}</span>
        <span class="hidden">{severity(view.severity)}:</span>
      </span>
      <div class="notification-text">
        <h3 lang={view.language}>
          {view.subject} {view.is_digest && <span class="chip">{say("digest")}</span>}
        </h3>
        <NotificationFacts view={view} />
        <details class="in-full">
          <summary>{say("in_full")}</summary>
          <pre lang={view.language}>{view.text.trim()}</pre>
        </details>
      </div>
      <div class="notification-end">
        <Time at={view.at} as="brief" />
        {isUnread ? (
          <span class="marks-read" data-id={view.id}>
            <Act
              label={say("mark")}
              name={say("mark_name", { subject: view.subject })}
              kind="quiet"
              run={read}
            />
          </span>
        ) : (
          view.read_by && <small>{say("read_by", { actor: view.read_by })}</small>
        )}
      </div>
    </li>
  );
}

/** The entry below, whose button is next in keyboard order. */
function nextOf(id: string): string | undefined {
  const ids = [...document.querySelectorAll<HTMLElement>(".marks-read")].map((each) => each.dataset.id);
  const here = ids.indexOf(id);
  return ids[here + 1] ?? ids[here - 1];
}

/** When the button disappears, move the focus to the next one, or to the title, unless the user moved it. */
function focusOnceGone(id: string, to: string | undefined): void {
  const buttonOf = (of: string) =>
    document.querySelector<HTMLElement>(`.marks-read[data-id="${CSS.escape(of)}"] button`);
  let looks = 40;
  const look = () => {
    looks -= 1;
    if (buttonOf(id) && looks > 0) {
      setTimeout(look, 50);
    } else if (document.activeElement === document.body) {
      const next = to ? buttonOf(to) : null;
      (next ?? document.querySelector<HTMLElement>("h1"))?.focus({ preventScroll: next === null });
    }
  };
  look();
}
