"""Linearizability: is there an order of operations on one row that explains every response?

This is the search of Wing and Gong, with Lowe's memory of the places it has been to. An order must keep the
order of operations that did not overlap, and the model must accept each operation in turn. Rows are
independent, so each is searched alone.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, TypeVar

State = TypeVar("State", bound=Hashable)


@dataclass(frozen=True, eq=False)
class Operation:
    """One operation, between its start and its end on one monotonic clock.

    Attributes:
        call: what the model reads.
        must: False if its outcome is unknown: then it may also have no effect.
        end: the latest time of its effect; infinite if its request may still be under way.
    """

    call: Any
    start: float
    end: float = inf
    must: bool = True


REJECTED = object()
"""What a model returns for an operation that a state does not permit."""


def order_of(
    operations: Sequence[Operation], first: State, step: Callable[[State, Any], State | object]
) -> Sequence[Operation] | None:
    """Return an order that explains all operations, or None if none does.

    Args:
        operations: of one row, in any order.
        first: the state before them.
        step: returns the state after a call, or `REJECTED`.
    """
    by_start = sorted(operations, key=lambda operation: operation.start)
    taken: list[int] = []
    states, seen = [first], {(frozenset[int](), first)}
    untried = [_candidates(by_start, ())]
    while untried:
        if all(place in taken for place, operation in enumerate(by_start) if operation.must):
            return [by_start[place] for place in taken]
        if not untried[-1]:
            untried.pop()
            states.pop()
            if taken:
                taken.pop()
            continue
        place = untried[-1].pop()
        after = step(states[-1], by_start[place].call)
        position = (frozenset((*taken, place)), after)
        if after is REJECTED or position in seen:
            continue
        seen.add(position)
        taken.append(place)
        states.append(after)
        untried.append(_candidates(by_start, taken))
    return None


def _candidates(by_start: Sequence[Operation], taken: Sequence[int]) -> list[int]:
    """Return the places that may come next, the best last: those that no operation left must precede."""
    left = [place for place in range(len(by_start)) if place not in taken]
    first_end = min((by_start[place].end for place in left if by_start[place].must), default=inf)
    last_start = max((by_start[place].start for place in taken), default=-inf)
    possible = [
        place for place in left if by_start[place].start <= first_end and by_start[place].end >= last_start
    ]
    return sorted(possible, key=lambda place: (by_start[place].must, -by_start[place].end))
