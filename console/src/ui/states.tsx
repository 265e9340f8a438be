// What stands in the place of something that is not (yet) there: loading, nothing, not allowed, not answered.

import type { ComponentChildren } from "preact";
import type { QueryResult } from "../query";
import { me } from "../me";
import { type Problem, UNREACHABLE } from "../problem";
import { say } from "../words/shared";

export function Loading({ lines = 4 }: { lines?: number }) {
  return (
    <div class="loading" role="status" aria-label={say("loading")}>
      {Array.from({ length: lines }, (_, place) => (
        <span class="bone" key={place} />
      ))}
    </div>
  );
}

/** Nothing is here, and that is why, and what one may do about it. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="state">
      <p class="state-title">{title}</p>
      {children}
    </div>
  );
}

export function Failure({ problem, retry }: { problem: Problem; retry?: () => void }) {
  const explanation = explained(problem);
  return (
    <div class="state is-problem" role="alert">
      <p class="state-title">{explanation.title}</p>
      <p>{explanation.why}</p>
      {problem.errors.length > 0 && (
        <ul>
          {problem.errors.map((each) => (
            <li key={each.where}>
              <code>{each.where}</code> {each.problem}
            </li>
          ))}
        </ul>
      )}
      {problem.isSignedOut && (
        <button type="button" onClick={() => location.reload()}>
          {say("sign_in")}
        </button>
      )}
      {retry && !problem.isForbidden && !problem.isMissing && !problem.isSignedOut && (
        <button type="button" onClick={retry}>
          {say("retry")}
        </button>
      )}
    </div>
  );
}

const CHANGED = 412;

/** A problem as people read it: the page's words for what it knows, the API's own for the rest. */
export function explained(problem: Problem): { title: string; why: string } {
  if (problem.status === UNREACHABLE) {
    return { title: say("unreachable"), why: problem.detail || say("unreachable_why") };
  }
  if (problem.isForbidden) {
    const roles = me.value.roles.join(", ") || say("no_roles");
    const { actor, tenant_id: tenant } = me.value;
    return { title: say("forbidden"), why: say("forbidden_why", { actor, tenant, roles }) };
  }
  if (problem.isSignedOut) return { title: say("signed_out"), why: say("signed_out_why") };
  if (problem.isMissing) return { title: say("missing"), why: say("missing_why") };
  if (problem.status === CHANGED) return { title: say("failed"), why: say("changed") };
  if (problem.status === 429) return { title: say("failed"), why: say("throttled") };
  if (problem.status >= 500)
    return { title: say("unreachable"), why: problem.detail || say("unreachable_why") };
  return { title: say("failed"), why: problem.detail || problem.title };
}

interface ShownProps<T> {
  live: QueryResult<T>;
  lines?: number;
  children: (value: T) => ComponentChildren;
}

/**
 * What is live, once it is there; before that, and instead of it, its state. What was there stays on a
 * failure.
 */
export function Shown<T>({ live, lines, children }: ShownProps<T>) {
  if (live.value !== undefined) {
    return (
      <>
        {live.problem && <Stale problem={live.problem} retry={live.refresh} />}
        {children(live.value)}
      </>
    );
  }
  if (live.problem) return <Failure problem={live.problem} retry={live.refresh} />;
  return <Loading lines={lines} />;
}

/** Why what these show may be old, if the last poll of one of them failed. */
export function StaleNote({ of }: { of: QueryResult<unknown>[] }) {
  const failing = of.find((live) => live.problem);
  return failing?.problem ? <Stale problem={failing.problem} retry={failing.refresh} /> : null;
}

function Stale({ problem, retry }: { problem: Problem; retry: () => void }) {
  const explanation = explained(problem);
  return (
    <p class="stale" role="status">
      <strong>{explanation.title}.</strong> {explanation.why}{" "}
      <button type="button" class="link" onClick={retry}>
        {say("retry")}
      </button>
    </p>
  );
}
