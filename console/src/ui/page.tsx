// How a screen is laid out: a title, what may be done there, and its parts.

import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";

interface PageProps {
  title: string;
  /** Above the title: where this belongs to. */
  above?: ComponentChildren;
  /** Beside the title: what may be done. */
  aside?: ComponentChildren;
  children: ComponentChildren;
}

export function Page({ title, above, aside, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · duetime`;
  }, [title]);
  return (
    <>
      <header class="page-head">
        <div>
          {above && <p class="above">{above}</p>}
          <h1 tabIndex={-1}>
            <bdi>{title}</bdi>
          </h1>
        </div>
        {aside && <div class="asides">{aside}</div>}
      </header>
      {children}
    </>
  );
}

interface PartProps {
  title: string;
  aside?: ComponentChildren;
  children: ComponentChildren;
}

/** A part of a screen, under a title of its own. */
export function Part({ title, aside, children }: PartProps) {
  const id = `part-${title.replace(/\W+/g, "-").toLowerCase()}`;
  return (
    <section class="part" aria-labelledby={id}>
      <header class="part-head">
        <h2 id={id}>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  );
}
