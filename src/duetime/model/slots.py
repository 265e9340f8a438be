"""The slots of a concurrency key: the actions that hold one, and those that wait for one. Facts only.

::

    take   an action whose limit permits it becomes a holder; its fence as read is its token
    wait   it joins the line, at the end
    move   a holder leaves, and the longest-waiting actions whose limits permit it become holders

A row's claim needs the fence that is its token, so a holder that was evicted, or that holds its slot since an
earlier run, begins no run. No process needs to be alive for that: the line and the slots are hints to the
others, and every step can be repeated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from duetime.ids import ActionId, TenantId
from duetime.model.action import Action, Status

MOST_WAITING = 75
"""The most actions in a key's line. With them, an item with a few holders has at most 2 KB."""

MAY_RUN_AGAIN = frozenset({Status.PENDING, Status.FAILED})
"""The statuses after which an action may take a slot again: it is retried, or redriven."""


@dataclass(frozen=True, slots=True)
class KeySlots:
    """The slots of a tenant's concurrency key, as read.

    Attributes:
        holders: by id, the fence of its row when it took its slot; None for one that 0.1.0 took.
        waiting: the line, the longest-waiting first.
        taken_at: when a slot was taken or passed last, to the second; None if none was.
    """

    tenant_id: TenantId
    key: str
    holders: Mapping[ActionId, int | None] = field(default_factory=dict)
    waiting: tuple[ActionId, ...] = ()
    taken_at: datetime | None = None

    def others(self, action_id: ActionId) -> int:
        """Return how many other actions hold slots."""
        return len(self.holders) - (action_id in self.holders)

    def has_token(self, row: Action) -> bool:
        """Return whether the row holds a slot with its fence: its claim alone begins a run."""
        return row.id in self.holders and self.holders[row.id] == row.fence

    def has_room(self) -> bool:
        """Return whether one more may wait."""
        return len(self.waiting) < MOST_WAITING


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotMove:
    """A change of the slots of a key as read: one holder leaves, others in the line become holders.

    Attributes:
        before: the slots as read.
        freed: the holder that leaves; None if there is none.
        passed: the rows that become holders, as read.
        dropped: the positions in the line that are removed: those of the passed, and of actions that wait
            no more.
        at: now.
        may_run_again: whether the action that leaves may take a slot again. Then no slot may have been taken
            since the read: 0.1.0 leaves no token.
    """

    before: KeySlots
    freed: ActionId | None = None
    passed: tuple[Action, ...] = ()
    dropped: frozenset[int] = frozenset()
    at: datetime
    may_run_again: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether it changes nothing."""
        return self.freed is None and not self.dropped

    @property
    def holders(self) -> dict[ActionId, int | None]:
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
        return has_left and all(slots.has_token(row) for row in self.passed)


def waits(row: Action | None, key: str, now: datetime, skew: timedelta) -> bool:
    """Return whether a row in the line of a key may become a holder: it is pending, due and not expired."""
    if row is None or row.status is not Status.PENDING or row.concurrency_key != key:
        return False
    is_expired = row.expires_at is not None and row.expires_at <= now
    return row.due_at <= now + skew and not is_expired
