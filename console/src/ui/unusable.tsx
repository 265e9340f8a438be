// Parts of an address that mean nothing: they are reported, and no bulk action is offered until they are gone.

import { say } from "./unusable.words";

/** A parameter of an address that is no filter, or the value of one that cannot be meant. */
export interface Unusable {
  name: string;
  value: string;
}

/** Return the parameters that have no entry in `known`, or whose value its entry rejects. */
export function unusableIn(
  query: URLSearchParams,
  known: Record<string, (value: string) => boolean>,
): Unusable[] {
  return [...query]
    .filter(([name, value]) => value !== "" && !(Object.hasOwn(known, name) && known[name]?.(value)))
    .map(([name, value]) => ({ name, value }));
}

export function UnusableNote({ unusable, rest }: { unusable: Unusable[]; rest: string }) {
  if (unusable.length === 0) return null;
  return (
    <div class="state is-problem" role="alert">
      <p class="state-title">{say("title", { n: unusable.length })}</p>
      <ul>
        {unusable.map(({ name, value }) => (
          <li key={`${name} ${value}`}>
            <code>
              {name}={value}
            </code>
          </li>
        ))}
      </ul>
      <p>{say("why")}</p>
      <a href={rest}>{say("drop")}</a>
    </div>
  );
}
