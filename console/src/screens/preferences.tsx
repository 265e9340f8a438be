// Which notifications a tenant wants, their channels, language and recipients.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { api, call } from "../api";
import { useQuery } from "../query";
import { can } from "../me";
import { Problem } from "../problem";
import { go, href, place } from "../route";
import { isScope, type Scope, ScopeField, scopeInAddress, scopeName } from "../scope";
import { written } from "../time";
import { Act } from "../ui/act";
import { Page, Part } from "../ui/page";
import { Shown } from "../ui/states";
import { UnusableNote, unusableIn } from "../ui/unusable";
import { say as shared } from "../words/shared";
import { ChannelsTable } from "./preferences-channels";
import { type Changes, changesOf, type Draft, draftOf, undoing, type View } from "./preferences-draft";
import { MailFields } from "./preferences-mails";
import { say } from "./preferences.words";

interface Held {
  view: View;
  etag: string;
}

const PATH = "/notifications/preferences";
const EVERY = 15_000;
const CHANGED_MEANWHILE = [409, 412];

async function load(scope: Scope, signal?: AbortSignal): Promise<Held> {
  const request = api.GET(PATH, { params: { query: { scope } }, signal });
  const view = await call(request);
  return { view, etag: (await request).response.headers.get("ETag") ?? "" };
}

async function put(scope: Scope, body: Changes, etag: string): Promise<Held> {
  const params = { query: { scope }, header: { "If-Match": etag } };
  const request = api.PUT(PATH, { params, body });
  const view = await call(request);
  return { view, etag: (await request).response.headers.get("ETag") ?? "" };
}

export function PreferencesScreen() {
  const scope = scopeInAddress();
  const live = useQuery((signal) => load(scope, signal), `preferences ${scope}`, EVERY, { isKept: false });
  const choose = (chosen: Scope) => go(href("preferences", { scope: chosen === "system" && chosen }));
  return (
    <Page
      title={say("title")}
      above={
        <>
          <a href={href("notifications", { scope: scope === "system" && scope })}>
            {shared("notifications")}
          </a>{" "}
          {say("above", { tenant: scopeName(scope) })}
        </>
      }
      aside={<ScopeField scope={scope} choose={choose} />}
    >
      <UnusableNote
        unusable={unusableIn(place.value.query, { scope: isScope })}
        rest={href("preferences", { scope: scope === "system" && scope })}
      />
      <Shown live={live}>{(held) => <Form key={scope} scope={scope} newest={held} />}</Shown>
    </Page>
  );
}

function Form({ scope, newest }: { scope: Scope; newest: Held }) {
  const [held, setHeld] = useState(newest);
  const [draft, setDraft] = useState<Draft>(() => draftOf(newest.view));
  const [conflict, setConflict] = useState<View>();
  const mayChoose = can("actions:manage", "jobs:manage") && (scope === "tenant" || can("system"));
  const isAdmin = mayChoose && (scope === "system" ? can("system") : can("tenant:admin"));
  const changes = changesOf(draft, held.view);
  const isOutdated = newest.view.revision > held.view.revision;

  const take = (next: Held) => {
    setHeld(next);
    setDraft(draftOf(next.view));
  };
  useEffect(() => {
    if (isOutdated && !changes) take(newest);
  }, [newest.etag]);

  const save = async () => {
    if (!changes) return say("nothing");
    const former = undoing(changes, held.view);
    try {
      const saved = await put(scope, changes, held.etag);
      take(saved);
      setConflict(undefined);
      return { text: say("saved"), undo: () => put(scope, former, saved.etag).then(take) };
    } catch (error) {
      if (error instanceof Problem && CHANGED_MEANWHILE.includes(error.status)) {
        const now = await load(scope);
        take(now);
        setConflict(now.view);
        return say("conflict", by(now.view));
      }
      throw error;
    }
  };
  const change = (next: Partial<Draft>) => setDraft({ ...draft, ...next });

  return (
    <>
      {conflict && <Notice title={say("conflict", by(conflict))} why={say("conflict_why")} />}
      {isOutdated && changes && (
        <Notice title={say("outdated", by(newest.view))} why={say("outdated_why")}>
          <button type="button" onClick={() => take(newest)}>
            {say("take")}
          </button>
        </Notice>
      )}
      <Part title={say("channels")}>
        <ChannelsTable {...{ scope, draft, view: held.view, change, mayChoose, isAdmin }} />
      </Part>
      <Part title={say("mails")}>
        <MailFields {...{ draft, view: held.view, change, mayChoose, isAdmin }} />
      </Part>
      <footer class="form-end">
        <p class="muted">
          {changes
            ? say("unsaved")
            : held.view.changed_at
              ? say("changed", byAndWhen(held.view))
              : say("never")}
        </p>
        {mayChoose && (
          <div class="asides">
            {changes && (
              <button type="button" onClick={() => take(held)}>
                {say("discard")}
              </button>
            )}
            <Act label={say("save")} kind="main" run={save} disabled={!changes} />
          </div>
        )}
      </footer>
    </>
  );
}

function Notice({ title, why, children }: { title: string; why: string; children?: ComponentChildren }) {
  return (
    <div class="state is-problem" role="alert">
      <p class="state-title">{title}</p>
      <p>{why}</p>
      {children}
    </div>
  );
}

function by(view: View): { actor: string } {
  return { actor: view.changed_by ?? say("someone") };
}

function byAndWhen(view: View): { actor: string; when: string } {
  return { ...by(view), when: view.changed_at ? written(view.changed_at) : "" };
}
