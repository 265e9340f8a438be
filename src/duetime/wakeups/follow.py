"""Step 2, *follow*: after arm, look at what waits for the rows and batches of a batch of stream records.

The sweep and the deep sweep look at everything that is held, so that a lost record only delays.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from functools import partial
from typing import TypeAlias

from duetime.clock import Clock
from duetime.errors import BackendUnavailable, DuetimeError, truncate
from duetime.ids import is_action_id
from duetime.model.action import Action, ActionRef
from duetime.model.batch import COUNTED_AT, COUNTING_SHARD, HELD_AT, BatchRef
from duetime.model.change import Change
from duetime.ports.actions import ActionStore
from duetime.wakeups.count_batch import CountBatch
from duetime.wakeups.release import Release

log = logging.getLogger(__name__)

Wake: TypeAlias = Change | BatchRef
"""A record of the actions table's stream: of a row, or of a batch."""

FOLLOW_TIME = timedelta(seconds=10)
"""The longest time in which arm looks at batches and held actions; the last call may exceed it."""

_MOST_HELD = 200
"""Held actions that one sweep looks at."""
_TURNS = 16
"""Sweeps in which all due shards have been looked at once."""
_PAGE = 100


class Follow:
    """Looks at batches and held actions."""

    def __init__(self, count: CountBatch, release: Release, clock: Clock) -> None:
        self._count, self._release, self._clock = count, release, clock

    def __call__(self, wakes: Iterable[Wake]) -> None:
        """Look at what waits for ended rows, and at batches that were written or whose members ended."""
        held, batches = dict[ActionRef, None](), dict[BatchRef, list[Action]]()
        for wake in wakes:
            if isinstance(wake, BatchRef):
                batches.setdefault(wake, [])
            elif (row := wake.new) is not None and row.is_awaited and row.status.is_final:
                held.update(dict.fromkeys(ActionRef(row.tenant_id, one) for one in row.followers))
                if row.batch is not None:
                    redriven = batches.setdefault(BatchRef(row.tenant_id, row.batch), [])
                    redriven += [row] if row.redriven_after else []
        stop_at = self._clock.now() + FOLLOW_TIME
        for ref in held:
            _tolerating(lambda ref=ref: self._release(ref), ref.id)  # type: ignore[misc]
        for batch, redriven in batches.items():
            look = partial(self._count.wake, batch, stop_at=stop_at, redriven=redriven)
            _tolerating(look, batch.name)


class SweepHeld:
    """The sweep's look at batches that are not complete, and at held actions."""

    def __init__(self, store: ActionStore, count: CountBatch, release: Release, clock: Clock) -> None:
        self._store, self._count, self._release, self._clock = store, count, release, clock

    def __call__(self, *, stop_at: datetime) -> int:
        """Count the batches that are due for it, and look at some held actions; return how many these are."""
        self._count_batches(stop_at)
        shards = self._store.due_shards
        turn = int(self._clock.now().timestamp()) // 60 % _TURNS
        left = _MOST_HELD
        for shard in shards[turn::_TURNS]:
            left -= self._look(shard, stop_at, left)
        return _MOST_HELD - left

    def look_at_all(self, *, stop_at: datetime) -> int:
        """Look at all that is held; return how many these are."""
        self._count_batches(stop_at)
        return sum(self._look(shard, stop_at, None) for shard in self._store.due_shards)

    def _count_batches(self, stop_at: datetime) -> None:
        for ref in self._entries(COUNTING_SHARD, COUNTED_AT, stop_at):
            if not is_action_id(ref.id):
                batch = BatchRef(ref.tenant_id, ref.id)
                _tolerating(lambda batch=batch: self._count.sweep(batch, stop_at=stop_at), batch.name)  # type: ignore[misc]

    def _look(self, shard: str, stop_at: datetime, most: int | None) -> int:
        looked = 0
        for ref in self._entries(shard, HELD_AT, stop_at):
            if most is not None and looked >= most:
                break
            looked += 1
            if is_action_id(ref.id):
                _tolerating(lambda ref=ref: self._release(ref), ref.id)  # type: ignore[misc]
        return looked

    def _entries(self, shard: str, at: datetime, stop_at: datetime) -> Iterable[ActionRef]:
        cursor, first = None, True
        while (first or cursor is not None) and self._clock.now() < stop_at:
            page = self._store.due(
                shard, after=at - timedelta(seconds=1), until=at, limit=_PAGE, cursor=cursor
            )
            yield from (entry.ref for entry in page.entries)
            cursor, first = page.cursor, False


def _tolerating(look: Callable[[], object], name: str) -> None:
    """Look at one; a failure is logged, since a later look repeats it, and must not stop the others."""
    try:
        look()
    except BackendUnavailable as error:
        log.warning("not looked at, the sweep does", extra={"about": name, "reason": truncate(error)})
    except DuetimeError:
        log.exception("cannot be looked at", extra={"about": name})
