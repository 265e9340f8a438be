// Views of a list: filters under a name, in this browser, for the person who saved them; and the link that
// shares them, for it has them all.

import { computed, signal } from "@preact/signals";
import { me } from "../me";
import { href, type Query } from "../route";
import { Act } from "../ui/act";
import { Flawed, Unusable } from "../ui/dialog";
import { showToast } from "../ui/toasts";
import { say as sayShared } from "../words/shared";
import { say } from "./views.words";

const FIELD = "name";
const LONGEST = 60;
const MOST = 50;

interface View {
  at: string;
  name: string;
  query: Query;
}

/** Where the views of the signed-in person are: another person who uses this browser sees none of them. */
const key = computed(() => {
  const { tenant_id, subject, actor } = me.value;
  return `duetime.views/${tenant_id}/${subject ?? actor}`;
});
const changes = signal(0);
const views = computed(() => {
  changes.value; // read again after a change
  return stored(key.value);
});

/** What an earlier visit saved; none if it cannot be read. */
function stored(key: string): View[] {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(key) ?? "[]");
    return Array.isArray(found) ? found.filter(isView) : [];
  } catch {
    return [];
  }
}

function isView(found: unknown): found is View {
  const view = found as View | null;
  return (
    typeof view?.at === "string" &&
    typeof view.name === "string" &&
    typeof view.query === "object" &&
    view.query !== null
  );
}

function store(all: View[]): void {
  localStorage.setItem(key.value, JSON.stringify(all));
  changes.value += 1;
}

export function Views({ at, query }: { at: string; query: Query }) {
  const own = views.value.filter((view) => view.at === at);
  const copy = async () => {
    await navigator.clipboard.writeText(new URL(href(at, query), location.href).href);
    showToast(sayShared("copied"));
  };
  return (
    <div class="views" role="group" aria-label={say("views")}>
      {own.map((view) => (
        <span key={view.name}>
          <a href={href(at, view.query)}>
            <bdi>{view.name}</bdi>
          </a>{" "}
          <button
            type="button"
            class="link"
            aria-label={say("remove", { name: view.name })}
            onClick={() => store(views.value.filter((other) => other !== view))}
          >
            ×
          </button>
        </span>
      ))}
      <Act
        label={say("save")}
        kind="quiet"
        ask={{
          title: say("save_title"),
          body: (flaws) => (
            <>
              <p>{say("save_body")}</p>
              <Flawed label={say("name")} flaw={flaws[FIELD]}>
                <input name={FIELD} maxLength={LONGEST} autoComplete="off" />
              </Flawed>
            </>
          ),
          go: say("save_go"),
          fields: [FIELD],
        }}
        run={async (form) => save(at, query, String(form.get(FIELD) ?? "").trim())}
      />
      <button type="button" class="link" onClick={() => void copy()}>
        {say("link")}
      </button>
    </div>
  );
}

/** Save a view; one with the same name is replaced. */
function save(at: string, query: Query, name: string): string {
  if (!name) throw new Unusable({ [FIELD]: say("name_missing") });
  const others = views.value.filter((view) => view.at !== at || view.name !== name);
  store([...others.slice(1 - MOST), { at, name, query }]);
  return say("saved", { name });
}
