// The frame around each screen: where one can go, who one is, and whether what is shown is up to date.

import { useEffect, useRef } from "preact/hooks";
import { mine } from "./app.words";
import { freshness } from "./freshness";
import { can, type Permission } from "./me";
import { Problem, UNREACHABLE } from "./problem";
import { refreshAll } from "./query";
import { href, place, restoreScroll } from "./route";
import { loadOthers, screenOf } from "./screens";
import { span } from "./time";
import { Guarded } from "./ui/guarded";
import { isNarrow } from "./ui/narrow";
import { Page } from "./ui/page";
import { Palette } from "./ui/palette";
import { Shortcuts } from "./ui/shortcuts";
import { SideEnd } from "./ui/side-end";
import { Failure, Loading } from "./ui/states";
import { Toasts } from "./ui/toasts";
import { Unread } from "./ui/unread";
import { say } from "./words/shared";

interface Entry {
  at: string;
  word: Parameters<typeof say>[0];
  needs: Permission[];
}

const ENTRIES: Entry[] = [
  { at: "", word: "overview", needs: [] },
  { at: "jobs", word: "jobs", needs: ["jobs:read"] },
  { at: "actions", word: "actions", needs: ["actions:read"] },
  { at: "batches", word: "batches", needs: ["actions:read"] },
  { at: "dead-letters", word: "dead_letters", needs: ["actions:read"] },
  { at: "pauses", word: "pauses", needs: ["actions:read", "tenants:manage"] },
  { at: "limits", word: "limits", needs: ["system"] },
  { at: "undelivered", word: "undelivered", needs: ["system"] },
  { at: "recount", word: "recount", needs: ["system"] },
  { at: "notifications", word: "notifications", needs: ["actions:read", "jobs:read"] },
  { at: "cadences", word: "cadences", needs: ["jobs:read"] },
];

/** The entry that stands for a screen without one of its own. */
const PARENTS: Record<string, string> = {
  preferences: "notifications",
  "job-editor": "jobs",
  load: "jobs",
};

export function App() {
  const { parts } = place.value;
  const main = useRef<HTMLElement>(null);
  const path = parts.join("/");
  const before = useRef(path);
  const screen = screenOf(parts);
  const isLoaded = screen !== undefined;
  useEffect(() => {
    if (isLoaded) void loadOthers();
  }, [isLoaded]);
  useEffect(() => {
    if (!isLoaded) return;
    restoreScroll(before.current !== path);
    if (before.current === path) return;
    before.current = path;
    main.current?.querySelector<HTMLElement>("h1")?.focus({ preventScroll: true });
  }, [place.value, isLoaded]);
  return (
    <div class="frame">
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        {mine("skip")}
      </button>
      <Side at={parts[0] ?? ""} />
      <main id="main" ref={main} tabIndex={-1}>
        <Guarded key={path}>
          <Screen screen={screen} name={parts[1] ?? ""} />
        </Guarded>
      </main>
      <Toasts />
      <Shortcuts />
    </div>
  );
}

function Screen({ screen: Shown, name }: { screen: ReturnType<typeof screenOf>; name: string }) {
  if (Shown === undefined) return <Loading />;
  if (Shown === null) {
    const problem = new Problem(UNREACHABLE, "page", "", mine("no_part"));
    return (
      <Page title={mine("no_part_title")}>
        <Failure problem={problem} retry={() => location.reload()} />
      </Page>
    );
  }
  if (Shown !== "none") return <Shown name={name} />;
  return (
    <Page title={mine("nowhere")}>
      <p>
        <a href={href()}>{say("overview")}</a>
      </p>
    </Page>
  );
}

function Side({ at }: { at: string }) {
  const entries = ENTRIES.filter((each) => each.needs.length === 0 || can(...each.needs));
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    const [bar, current] = [nav.current, nav.current?.querySelector<HTMLElement>("[aria-current]")];
    if (bar && current) bar.scrollLeft = current.offsetLeft - (bar.clientWidth - current.clientWidth) / 2;
  }, [at, entries.length]);
  return (
    <header class="side">
      <div class="side-begin">
        <a class="brand" href={href()}>
          <img src="assets/mark.svg" alt="" width="24" height="24" /> duetime
        </a>
        <Freshness />
        <Palette screens={entries.map(({ at, word }) => ({ at, name: say(word) }))} />
      </div>
      <nav aria-label={mine("nav")} ref={nav}>
        {entries.map((each) => (
          <a
            key={each.at}
            href={href(...(each.at ? [each.at] : []))}
            aria-current={each.at === (PARENTS[at] ?? at) ? "page" : undefined}
          >
            {say(each.word)}
            {each.at === "notifications" && <Unread />}
          </a>
        ))}
      </nav>
      {isNarrow.value ? (
        <details class="side-more">
          <summary>{mine("settings")}</summary>
          <SideEnd />
        </details>
      ) : (
        <SideEnd />
      )}
    </header>
  );
}

/** Whether the page is up to date. */
function Freshness() {
  const state = freshness();
  const text = state.kind === "old" ? mine("old", { span: span(state.age) }) : mine(state.kind);
  return (
    <button
      type="button"
      class={`fresh ${state.kind === "live" ? "" : "is-old"}`}
      onClick={refreshAll}
      title={say("refresh")}
    >
      <span class="dot" aria-hidden="true" /> {text}
    </button>
  );
}
