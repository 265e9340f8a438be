"""The predecessors of an action: what a held action waits for, and what their ends decide. Pure.

The ids of `after` must exist when it is written, and it never changes. So each action waits only for older
ones. Members of a batch have no predecessors, and a batch waits for its members alone. So no cycle exists.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Literal, Protocol, TypeAlias

from duetime import ids
from duetime._english import counted
from duetime.errors import InvalidArgument
from duetime.ids import ActionId
from duetime.model.action import Action, Status
from duetime.model.batch import ActionBatch, BatchState, batch_name

MOST_PREDECESSORS = 20
"""Predecessors of one action; more can be a batch."""

AfterFailure = Literal["fail", "skip", "run"]
"""What an action does if a predecessor is not executed; ``run``: it runs after any end of all."""

ANY, SKIP = "any", "skip"
"""The stored rules; an action without one fails."""

_BATCH = "batch:"


class _Named(Protocol):
    @property
    def name(self) -> str: ...


After: TypeAlias = "str | Action | _Named | Iterable[str | Action | _Named]"
"""What a caller may pass as `after`: ids, actions and batches."""


class Decision(Enum):
    """What the ends of its predecessors decide about a held action."""

    WAIT = "wait"
    RUN = "run"
    FAIL = "fail"
    SKIP = "skip"


@dataclass(frozen=True, slots=True)
class Verdict:
    """A decision, and the predecessor that was not executed, if one decided it."""

    decision: Decision
    unmet: str | None = None


@dataclass(frozen=True, slots=True)
class Predecessors:
    """What an action waits for."""

    ids: tuple[ActionId, ...]
    batches: tuple[str, ...]

    def text(self) -> str:
        """Return the stored form: ids and ``batch:name``, with spaces between them."""
        return " ".join([*self.ids, *(f"{_BATCH}{name}" for name in self.batches)])

    @classmethod
    def parse(cls, text: str) -> Predecessors:
        """Parse the result of `text`.

        Raises:
            InvalidArgument: it is no such text.
        """
        return cls.from_names(text.split(" "))

    @classmethod
    def of_row(cls, row: Action) -> Predecessors:
        """Return those of an action that has some."""
        return cls.parse(row.after.names if row.after else "")

    @classmethod
    def from_names(cls, names: Iterable[str]) -> Predecessors:
        """Return the predecessors of ids and ``batch:name``, without repeats.

        Raises:
            InvalidArgument: one is neither, or there are none, or more than `MOST_PREDECESSORS`.
        """
        distinct = list(dict.fromkeys(names))
        if not 1 <= len(distinct) <= MOST_PREDECESSORS:
            problem = (
                f"has {len(distinct)} entries; 1 to {MOST_PREDECESSORS} are allowed: use a batch for more"
            )
            raise InvalidArgument(problem, field="after", value=distinct[:3])
        batches = tuple(batch_name(name.removeprefix(_BATCH)) for name in distinct if name.startswith(_BATCH))
        rest = [name for name in distinct if not name.startswith(_BATCH)]
        for name in rest:
            if not ids.is_action_id(name) or not ids.is_one_shot(name):
                problem = (
                    "is no id of an action that schedule returned, and no batch such as batch:import-2027-03"
                )
                raise InvalidArgument(problem, field="after", value=name)
        return cls(tuple(map(ActionId, rest)), batches)

    @classmethod
    def of(cls, after: After) -> Predecessors:
        """Return what a caller passed.

        Raises:
            InvalidArgument: see `from_names`.
        """
        given = [after] if isinstance(after, str | Action) or hasattr(after, "name") else after
        if not isinstance(given, Iterable):
            raise InvalidArgument("must be ids, actions or batches", field="after", value=given)
        return cls.from_names(_name_of(one) for one in given)


def decide(row: Action, rows: Mapping[ActionId, Action], batches: Mapping[str, ActionBatch]) -> Verdict:
    """Return what becomes of a held row.

    A predecessor that is gone was executed: its row stays for the retention after its end, and a failure
    decides at once.
    """
    ends = list(_ends(Predecessors.of_row(row), rows, batches))
    waits = any(end is None for end in ends)
    unmet = next((end for end in ends if end), None)
    rule = row.after and row.after.rule
    if unmet is not None and rule != ANY:
        return Verdict(Decision.SKIP if rule == SKIP else Decision.FAIL, unmet)
    return Verdict(Decision.WAIT) if waits else Verdict(Decision.RUN)


def waits_for(
    row: Action, rows: Mapping[ActionId, Action], batches: Mapping[str, ActionBatch]
) -> Iterator[str]:
    """Yield a phrase for each predecessor that a held row still waits for."""
    predecessors = Predecessors.of_row(row)
    for one in predecessors.ids:
        if one in rows and not rows[one].status.is_final:
            yield f"action {one}, which is {rows[one].status.value}"
    for name in predecessors.batches:
        if name in batches and (batch := batches[name]).state is not BatchState.COMPLETE:
            yield f"batch {name}, which is {batch.state.value}: {batch.left:,} of {batch.size:,} are left"


def _ends(
    predecessors: Predecessors, rows: Mapping[ActionId, Action], batches: Mapping[str, ActionBatch]
) -> Iterator[str | None]:
    """Yield None for one that has not ended, an empty text for an executed one, and else how it ended."""
    for one in predecessors.ids:
        row = rows.get(one)
        if row is None or row.status is Status.EXECUTED:
            yield ""
        else:
            yield f"its predecessor {one} was {row.status.value}" if row.status.is_final else None
    for name in predecessors.batches:
        batch = batches.get(name)
        if batch is None or batch.is_executed:
            yield ""
        elif batch.state is not BatchState.COMPLETE:
            yield None
        else:
            yield (
                f"its predecessor batch {name} executed {batch.counts.executed:,}"
                f" of {counted(batch.size, 'member', ',')}"
            )


def _name_of(one: object) -> str:
    if isinstance(one, Action):
        return one.id
    name = getattr(one, "name", None)
    return f"{_BATCH}{name}" if name is not None else str(one)
