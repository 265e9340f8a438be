// The page cannot start: its configuration is missing, or the sign-in failed.

import { Problem } from "../problem";
import { words } from "../words";
import { Failure } from "./states";

const say = words({
  en: { title: "duetime's console cannot start", again: "Start again" },
  fr: { title: "La console de duetime ne peut pas démarrer", again: "Recommencer" },
});

export function CannotStart({ error }: { error: unknown }) {
  const problem = error instanceof Problem ? error : new Problem(0, "page", "", String(error));
  return (
    <main class="alone">
      <h1>{say("title")}</h1>
      <Failure problem={problem} />
      <button type="button" onClick={() => location.reload()}>
        {say("again")}
      </button>
    </main>
  );
}
