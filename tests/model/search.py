"""Searches all reachable states breadth first, and returns the shortest path to a broken promise."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from math import inf
from typing import Any


@dataclass(frozen=True)
class Broken:
    """A promise that does not hold, and how one gets there."""

    promise: str
    way: tuple[str, ...]


@dataclass(frozen=True)
class Checked:
    """What came of a search."""

    states: int
    broken: Broken | None


@dataclass(frozen=True)
class Model:
    """What is searched; a step has a `name`, and the state `after` it."""

    starts: Iterable[Hashable]
    steps: Callable[[Any], Iterable[Any]]
    broken_by: Callable[[Any, Any], Iterator[str]]
    """Promises about a step, and the state before it."""
    broken_in: Callable[[Any], Iterator[str]]
    """Promises about a state."""


def search(model: Model, *, at_most: float = inf) -> Checked:
    """Search until a promise is broken, or until every state, or `at_most` so many, have been seen."""
    frontier = list(model.starts)
    came_from: dict[Hashable, tuple[Hashable, str]] = dict.fromkeys(frontier, (None, "it begins"))
    while frontier and len(came_from) < at_most:
        following = []
        for state in frontier:
            for step in model.steps(state):
                promise = next(model.broken_by(step, state), None)
                if promise is None and step.after in came_from:
                    continue
                promise = promise or next(model.broken_in(step.after), None)
                if promise is not None:
                    return Checked(len(came_from), Broken(promise, (*_way(came_from, state), step.name)))
                came_from[step.after] = (state, step.name)
                following.append(step.after)
        frontier = following
    return Checked(len(came_from), None)


def _way(came_from: dict[Hashable, tuple[Hashable, str]], state: Hashable) -> tuple[str, ...]:
    steps = []
    while state is not None:
        state, step = came_from[state]
        steps.append(step)
    return tuple(reversed(steps))


SOON = 20_000
"""States: a counterexample to a guard that was left out is found before."""


def broken_promises(
    check: Callable[..., Checked], scenarios: Iterable[str], guards: frozenset[object]
) -> Iterator[str]:
    """Yield the promises that a protocol breaks under these guards, in each of the scenarios."""
    for scenario in scenarios:
        checked = check(scenario, guards, at_most=SOON)
        if checked.broken:
            yield checked.broken.promise
