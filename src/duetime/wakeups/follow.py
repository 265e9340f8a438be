"""Step 2, *follow*: after arm, release and count what waits for the rows of a group of stream records.

The sweep and the deep sweep check everything that is held, so a lost record only delays.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import TypeAlias

from duetime.errors import BackendUnavailable, DuetimeError, truncate
from duetime.ids import is_action_id
from duetime.model.action import Action, ActionRef, Status
from duetime.model.batch import COUNTED_AT, COUNTING_SHARD, HELD_AT, BatchRef
from duetime.model.change import Change
from duetime.ports.backends import Backends
from duetime.wakeups.count_batch import CountBatch, Release
from duetime.wakeups.due_messages import message_of, send_wakes

log = logging.getLogger(__name__)

Wake: TypeAlias = Change | BatchRef
"""A record of the actions table's stream: of a row, or of a batch."""

FOLLOW_TIME = timedelta(seconds=10)
"""The longest time in which arm checks batches and held actions; the last call may exceed it."""

_MOST_HELD = 200
"""Held actions that one sweep checks."""
_TURNS = 16
"""Sweeps in which all due shards are read once."""
_PAGE = 100


class Follow:
    """Releases held actions, and counts batches, after stream records."""

    def __init__(self, backends: Backends, count_batch: CountBatch, release: Release) -> None:
        self._count, self._release, self._clock = count_batch, release, backends.clock

    def __call__(self, wakes: Iterable[Wake], *, stop_at: datetime | None = None) -> None:
        """Release what waits for ended rows, and count batches that were written or whose members ended.

        Args:
            wakes: the records.
            stop_at: nothing begins after it, nor `FOLLOW_TIME` from now; the sweep finds what is left.
        """
        held, batches = dict[ActionRef, bool](), dict[BatchRef, list[Action]]()
        for wake in wakes:
            if isinstance(wake, BatchRef):
                batches.setdefault(wake, [])
            elif (row := wake.new) is not None and row.is_awaited and row.status.is_final:
                for ref in (ActionRef(row.tenant_id, one) for one in row.followers):
                    held[ref] = held.get(ref, False) or row.status is Status.EXECUTED
                if row.batch is not None:
                    redriven = batches.setdefault(BatchRef(row.tenant_id, row.batch), [])
                    redriven += [row] if row.redriven_after else []
        limit = self._clock.now() + FOLLOW_TIME
        stop_at = limit if stop_at is None else min(stop_at, limit)
        checks: list[tuple[Callable[[], object], str]] = [
            (partial(self._release, ref, has_success=has_success), ref.id)
            for ref, has_success in held.items()
        ]
        for batch, redriven in batches.items():
            count = partial(self._count.wake, batch, stop_at=stop_at, redriven=redriven)
            checks.insert(
                0 if redriven else len(checks), (count, batch.name)
            )  # no sweep finds a late redrive
        for done, (check, name) in enumerate(checks):
            if self._clock.now() >= stop_at:
                log.warning("out of time, the sweep does the rest", extra={"left": len(checks) - done})
                return
            _tolerating(check, name)


class SweepHeld:
    """Counts the batches that are not complete, and checks held actions, in the sweep."""

    def __init__(self, backends: Backends, count_batch: CountBatch, release: Release) -> None:
        self._store, self._clock = backends.store, backends.clock
        self._count, self._release = count_batch, release

    def __call__(self, *, stop_at: datetime) -> int:
        """Count the batches that are due for it, and check some held actions; return how many these are."""
        self._count_batches(stop_at)
        shards = self._store.due_shards
        turn = int(self._clock.now().timestamp()) // 60 % _TURNS
        left = _MOST_HELD
        for shard in shards[turn::_TURNS]:
            left -= self._check(shard, stop_at, left)
        return _MOST_HELD - left

    def check_all(self, *, stop_at: datetime) -> int:
        """Check all that is held; return how many these are."""
        self._count_batches(stop_at)
        return sum(self._check(shard, stop_at, None) for shard in self._store.due_shards)

    def _count_batches(self, stop_at: datetime) -> None:
        now = self._clock.now()
        stop_at = now + (stop_at - now) / 2  # a large batch must not hold up the releases
        for ref in self._entries(COUNTING_SHARD, COUNTED_AT, stop_at):
            if not is_action_id(ref.id):
                batch = BatchRef(ref.tenant_id, ref.id)
                _tolerating(lambda batch=batch: self._count.sweep(batch, stop_at=stop_at), batch.name)  # type: ignore[misc]

    def _check(self, shard: str, stop_at: datetime, most: int | None) -> int:
        checked = 0
        for ref in self._entries(shard, HELD_AT, stop_at):
            if most is not None and checked >= most:
                break
            checked += 1
            if is_action_id(ref.id):
                _tolerating(lambda ref=ref: self._release(ref), ref.id)  # type: ignore[misc]
        return checked

    def _entries(self, shard: str, at: datetime, stop_at: datetime) -> Iterable[ActionRef]:
        cursor, first = None, True
        while (first or cursor is not None) and self._clock.now() < stop_at:
            page = self._store.due(
                shard, after=at - timedelta(seconds=1), until=at, limit=_PAGE, cursor=cursor
            )
            yield from (entry.ref for entry in page.entries)
            cursor, first = page.cursor, False


def _tolerating(check: Callable[[], object], name: str) -> None:
    """Check one; a failure is logged, since a later check repeats it, and must not stop the others."""
    try:
        check()
    except BackendUnavailable as error:
        log.warning("not checked, the sweep does", extra={"about": name, "reason": truncate(error)})
    except DuetimeError:
        log.exception("cannot be checked", extra={"about": name})


class AfterHandOver:
    """Frees what handed-over runs held, after the table's stream has shown their ends.

    The party that ends a hand-over has a token, and no right to a queue. So arm sends the action's message
    once more: a worker then frees the slot of its concurrency key, or wakes the run that waits for its job's
    lock. A repeated message changes nothing; without one, both are found within minutes.
    """

    def __init__(self, backends: Backends) -> None:
        self._queues, self._routes, self._clock = backends.queues, backends.routes, backends.clock

    def __call__(self, changes: Iterable[Change]) -> None:
        """Send the messages.

        Raises:
            BackendUnavailable: some may be missing; the complete batch may be repeated.
        """
        rows = [row for change in changes if (row := change.ended_hand_over) and _holds_others_up(row)]
        now = self._clock.now()
        messages = [replace(message_of(row), due_at=min(row.due_at, now)) for row in rows]
        if messages:
            send_wakes(messages, self._queues, self._routes, self._clock)


def _holds_others_up(row: Action) -> bool:
    return row.concurrency is not None or row.job is not None
