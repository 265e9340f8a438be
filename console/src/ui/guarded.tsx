// What a screen shows if a part of it cannot be drawn: a response of another shape, or a fault of the page.

import type { ComponentChildren } from "preact";
import { useEffect, useErrorBoundary } from "preact/hooks";
import { isBroken } from "../freshness";
import { Problem, UNREACHABLE } from "../problem";
import { forgetUnused } from "../query";
import { say } from "./guarded.words";
import { Page } from "./page";
import { Failure } from "./states";

export function Guarded({ children }: { children: ComponentChildren }) {
  const [error, reset] = useErrorBoundary() as [unknown, () => void];
  if (!error) return <>{children}</>;
  return <Broken error={error} reset={reset} />;
}

const AGAIN = 15_000;

function Broken({ error, reset }: { error: unknown; reset: () => void }) {
  useEffect(() => {
    isBroken.value = true;
    forgetUnused();
    const timer = setInterval(reset, AGAIN);
    return () => {
      clearInterval(timer);
      isBroken.value = false;
    };
  }, []);
  const problem = new Problem(UNREACHABLE, "page", "", say("why", { error: String(error) }));
  return (
    <Page title={say("title")}>
      <Failure problem={problem} retry={reset} />
    </Page>
  );
}
