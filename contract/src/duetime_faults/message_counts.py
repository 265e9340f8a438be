"""Counts the messages of each action in a simulation: a wait must not multiply them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import ceil

from duetime.model.action import Action, ActionRef
from duetime.testing.journey import short

_AT_FIRST, _OF_A_CLAIM, _A_MINUTE = 40, 20, 4
"""How many messages an action may have: in any case, for each claim, and for each minute in which it has any.

A run that waits for its job's lock looks again after 15 seconds, or later. The rest is for sweeps, and for
calls that are repeated.
"""


@dataclass(slots=True)
class _Count:
    first_at: datetime
    last_at: datetime
    number: int = 0


@dataclass(eq=False, slots=True)
class MessageCounts:
    """The messages of each action that the steps sent; copies that the simulation made are not counted."""

    _counts: dict[ActionRef, _Count] = field(default_factory=dict)

    def sent(self, ref: ActionRef, now: datetime) -> None:
        """Count a message."""
        count = self._counts.setdefault(ref, _Count(now, now))
        count.last_at, count.number = now, count.number + 1

    def unanswered(self, ref: ActionRef) -> None:
        """Do not count a message that a hanging queue took: its caller must send another."""
        self._counts[ref].number -= 1

    def broken(self, rows: Iterable[Action]) -> Iterator[str]:
        """Yield a line for each action that had more messages than its claims and waits explain."""
        for row in rows:
            count = self._counts.get(row.ref)
            most = 0 if count is None else _most(row, count.last_at - count.first_at)
            if count is not None and count.number > most:
                yield f"{short(row.id)} had {count.number} messages; its claims and waits explain {most}"


def _most(row: Action, span: timedelta) -> int:
    return (
        _AT_FIRST + _OF_A_CLAIM * (row.fence + row.generation) + ceil(_A_MINUTE * span / timedelta(minutes=1))
    )
