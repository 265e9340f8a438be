// Parts of an address that mean nothing: they are reported, and no bulk action is offered until they are gone.

import { words } from "../words";

const say = words({
  en: {
    title: {
      one: "A part of this address is no filter",
      other: "{n} parts of this address are no filters",
    },
    why: "It is ignored. The list may have more than was meant, so it cannot be changed as a whole.",
    drop: "Use the other filters alone",
  },
  fr: {
    title: {
      one: "Une partie de cette adresse n'est pas un filtre",
      other: "{n} parties de cette adresse ne sont pas des filtres",
    },
    why:
      "Cela est ignoré. La liste contient peut-être plus que prévu : elle ne peut pas être " +
      "modifiée en bloc.",
    drop: "N'utiliser que les autres filtres",
  },
});

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
