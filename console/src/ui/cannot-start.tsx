// The page cannot start: its configuration or the API is not there, or the sign-in was denied. What may pass
// is tried again.

import { useEffect } from "preact/hooks";
import { Problem, SignInDenied, UNREACHABLE } from "../problem";
import { say } from "./cannot-start.words";
import { say as sayShared } from "../words/shared";
import { Failure } from "./states";

const SOON = 5_000;

export function CannotStart({ error, retry }: { error: unknown; retry: () => void }) {
  if (error instanceof SignInDenied) return <Denied reason={error.message} />;
  return <Failed problem={problemOf(error)} retry={retry} />;
}

function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const isNetwork = error instanceof TypeError; // so says `fetch`
  return new Problem(isNetwork ? UNREACHABLE : 400, "page", "", String(error));
}

function Denied({ reason }: { reason: string }) {
  return (
    <main class="alone">
      <h1>{say("denied")}</h1>
      <p>{say("denied_why")}</p>
      <p class="stale">
        <bdi>{reason}</bdi>
      </p>
      <button type="button" onClick={() => location.reload()}>
        {sayShared("sign_in")}
      </button>
    </main>
  );
}

function Failed({ problem, retry }: { problem: Problem; retry: () => void }) {
  useEffect(() => {
    if (!problem.isTemporary) return;
    const timer = setTimeout(retry, SOON);
    return () => clearTimeout(timer);
  }, [problem]);
  return (
    <main class="alone">
      <h1>{say("title")}</h1>
      <Failure problem={problem} />
      {problem.isTemporary && <p class="muted">{say("soon")}</p>}
      {!problem.isSignedOut && (
        <button type="button" onClick={problem.isTemporary ? retry : () => location.reload()}>
          {say("again")}
        </button>
      )}
    </main>
  );
}
