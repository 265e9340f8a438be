"""The slots of a concurrency key: the actions that hold one, and those that wait for one. Facts only.

::

    take   an action whose limit permits it becomes a holder; its fence as read is its token
    wait   it joins the line, at the end; if that is full, its tail
    move   a holder leaves, and the longest-waiting actions whose limits permit it become holders

The line has its first actions in the key's item, and any number of others in its tail, an item for each.

A row's claim needs the fence that is its token, so a holder that was evicted, or that holds its slot since an
earlier run, begins no run. No process needs to be alive for that: the line and the slots are hints to the
others, and every step can be repeated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from duetime import instant
from duetime.ids import ActionId, TenantId
from duetime.model.action import Action, Status

MOST_WAITING = 25
"""The most actions in line before its tail. With them, a key's item with a few holders has at most 1 KB."""

FEW_WAITING = 5
"""With fewer, a move appends the first of the tail."""


class TailEntry(NamedTuple):
    """An action in the tail of a key's line.

    Attributes:
        position: a text that orders the tail: by due time, then by id.
        action_id: the action.
        joined_at: when it joined, to the second.
    """

    position: str
    action_id: ActionId
    joined_at: datetime


@dataclass(frozen=True, slots=True)
class KeySlots:
    """The slots of a tenant's concurrency key, as read.

    Attributes:
        holders: by id, the fence of its row when it took its slot: its token.
        waiting: the line, the longest-waiting first.
        taken_at: when a slot was taken or passed last, to the second; the earliest instant if none was.
        has_tail: whether the line may go on in its tail.
    """

    tenant_id: TenantId
    key: str
    holders: Mapping[ActionId, int] = field(default_factory=dict)
    waiting: tuple[ActionId, ...] = ()
    taken_at: datetime = instant.EARLIEST
    has_tail: bool = False

    def is_full_for(self, row: Action) -> bool:
        """Return whether the row has no slot, and as many as its limit hold one."""
        return row.id not in self.holders and len(self.holders) >= row.slot_limit

    def has_token(self, row: Action) -> bool:
        """Return whether the row holds a slot with its fence: its claim alone begins a run."""
        return self.holders.get(row.id) == row.fence

    def has_room(self) -> bool:
        """Return whether one more may wait before the tail."""
        return len(self.waiting) < MOST_WAITING and not self.has_tail


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotMove:
    """A change of the slots of a key as read: one holder leaves, others in the line become holders.

    Attributes:
        before: the slots as read.
        freed: the holder that leaves; None if there is none.
        passed: the rows that become holders, as read.
        dropped: the positions in the line that are removed: those of the passed, and of actions that wait
            no more.
        appended: the first of the tail, which join the end of the line.
        tail_left: the entries of the tail that are removed after it.
        ends_tail: whether it leaves nothing in the tail as read.
        at: now.
    """

    before: KeySlots
    freed: ActionId | None = None
    passed: tuple[Action, ...] = ()
    dropped: frozenset[int] = frozenset()
    appended: tuple[ActionId, ...] = ()
    tail_left: tuple[TailEntry, ...] = ()
    ends_tail: bool = False
    at: datetime

    @property
    def is_empty(self) -> bool:
        """Whether it changes nothing."""
        return not (self.freed or self.dropped or self.passed or self.appended or self.ends_tail)

    @property
    def waiting(self) -> tuple[ActionId, ...]:
        """The line after it."""
        left = (id_ for place, id_ in enumerate(self.before.waiting) if place not in self.dropped)
        return (*left, *self.appended)

    @property
    def is_short(self) -> bool:
        """Whether so few are in line after it that it appends the first of the tail."""
        return len(self.waiting) < min(FEW_WAITING, MOST_WAITING)

    @property
    def room(self) -> int:
        """How many more may be in line after it."""
        return max(0, MOST_WAITING - len(self.waiting))

    @property
    def holders(self) -> dict[ActionId, int]:
        """The holders after it."""
        left = {holder: fence for holder, fence in self.before.holders.items() if holder != self.freed}
        return left | {row.id: row.fence for row in self.passed}

    @property
    def needs_same_line(self) -> bool:
        """Whether slots stay free: an action that has joined the line meanwhile might take one."""
        return len(self.holders) < len(self.before.holders)

    def is_done_in(self, slots: KeySlots) -> bool:
        """Return whether the slots are as it leaves them, as far as it changes them."""
        has_left = self.freed is None or self.freed not in slots.holders
        has_joined = {*self.appended} <= {*slots.waiting, *slots.holders}
        return has_left and has_joined and all(slots.has_token(row) for row in self.passed)


def tail_position(row: Action) -> str:
    """Return the position of a row in the tail of its key's line."""
    return f"{instant.text(row.due_at)} {row.id}"


def waits(row: Action | None, key: str, now: datetime, skew: timedelta) -> bool:
    """Return whether a row in the line of a key may become a holder: it is pending, due and not expired."""
    if row is None or row.status is not Status.PENDING or row.slot_key != key:
        return False
    is_expired = row.expires_at is not None and row.expires_at <= now
    return row.due_at <= now + skew and not is_expired
