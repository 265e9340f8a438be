"""Resume the actions of an earlier process, whose messages and timers are lost.

Actions that are overdue or due soon get messages, and so do the runs that the end of the process cut short;
those wait until their leases end. The sweep sets timers for the later ones, as after a change from the
wheel. The jobs' schedules are set by the deploy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from duetime import instant
from duetime.aws.backends import AwsBackends
from duetime.aws.items import from_item
from duetime.clock import Clock
from duetime.errors import UnreadableRow
from duetime.model.action import Action, Status
from duetime.settings import Settings
from duetime.wakeups.due_messages import message_of, send_wakes
from duetime.wakeups.due_scanner import DueShards
from duetime.wakeups.wheel import BOOKMARK, REARM, TURN


@dataclass(frozen=True, slots=True)
class FoundActions:
    """The unsettled actions that an earlier process left.

    Attributes:
        pending: the pending one-shots.
        planned: the pending runs of jobs.
        cut_short: the actions that ran when the process ended.
        found_at: when they were found.
    """

    pending: Sequence[Action]
    planned: Sequence[Action]
    cut_short: Sequence[Action]
    found_at: datetime

    @property
    def next_due_at(self) -> datetime | None:
        """When the first of the pending one-shots is or was due."""
        return min((action.due_at for action in self.pending), default=None)


def found_actions(items: Iterable[dict[str, Any]], clock: Clock) -> FoundActions:
    """Return the unsettled actions among the items of the table; the sweep reports unreadable ones."""
    rows = list(_readable(item for item in items if item.get("status", {}).get("S") in _UNSETTLED))
    pending = [row for row in rows if row.status is Status.PENDING]
    return FoundActions(
        [row for row in pending if row.planned_at is None],
        [row for row in pending if row.planned_at is not None],
        [row for row in rows if row.status is Status.PROCESSING],
        clock.now(),
    )


def resume(found: FoundActions, settings: Settings, clock: Clock) -> None:
    """Wake the actions that are due soon or were cut short, and leave the others to the next sweep.

    Raises:
        BackendUnavailable: some may not have been woken; it may be repeated.
    """
    backends, now = AwsBackends(settings, clock), clock.now()
    shards = DueShards(backends.store, backends.bookmarks, clock).probe()
    turned_until = instant.text(now + settings.near_limit - TURN)
    backends.bookmarks.write(BOOKMARK, dict.fromkeys(shards, turned_until))
    backends.bookmarks.write(REARM, {})
    until = now + max(settings.near_limit, TURN)  # the sweep begins within it
    soon = [row for row in (*found.pending, *found.planned) if row.due_at <= until]
    messages = [message_of(row) for row in (*found.cut_short, *sorted(soon, key=lambda row: row.due_at))]
    send_wakes(messages, backends.queues, backends.routes, clock)


_UNSETTLED = {Status.PENDING.value, Status.PROCESSING.value}


def _readable(items: Iterable[dict[str, Any]]) -> Iterator[Action]:
    for item in items:
        with suppress(UnreadableRow):
            yield from_item(item)
