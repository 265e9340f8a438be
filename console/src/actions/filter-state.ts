// The filters of a screen. What the fields say is state; the address follows from it, and the list from the
// address. A bulk action takes what the fields say, and brings the address up to date first.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { go, href, place } from "../route";
import type { Unusable } from "../ui/unusable";
import { type Filters, inAddress, readFilters } from "./filters";

export interface FilterState {
  /** The place that the filters belong to. */
  at: string;
  /** Those of the address: the list shows what they mean. */
  applied: Filters;
  /** What the address has that is no filter. Until it is gone, no bulk action is offered. */
  unusable: Unusable[];
  /** The fields say this. */
  type: (filters: Filters) => void;
  /** Bring the address up to date with the fields, and return what they say. */
  apply: () => Filters;
}

export function useFilters(at: string): FilterState {
  const { query } = place.value;
  const { filters: applied, unusable } = readFilters(query);
  const typed = useSignal(applied);
  useEffect(() => {
    typed.value = applied;
  }, [query.toString()]);
  return {
    at,
    applied,
    unusable,
    type: (filters) => {
      typed.value = filters;
    },
    apply: () => {
      go(href(at, inAddress(typed.peek())));
      return typed.peek();
    },
  };
}
