"""Step 2, *arm*: set the wake of a row that became pending; clear the wake of one that left pending early.

The step reads the table's stream: after each write, at least once, in order for each row. Lost and repeated
wakes do no harm: the sweep finds lost ones, and the claim rejects repeated ones.

Within the near limit, a delayed message carries the wake; beyond it, a timer does. If a timer cannot be set,
messages with delays of 15 minutes carry the wake, so a throttled service delays nothing else.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import datetime

from duetime.clock import Clock
from duetime.errors import BackendUnavailable, truncate
from duetime.model.action import Action
from duetime.model.change import Change
from duetime.ports.actions import ActionStore
from duetime.ports.wakeups import DueQueues, Routes, Timers
from duetime.settings import Settings
from duetime.wakeups.due_messages import message_of, send_wakes

log = logging.getLogger(__name__)


class Arm:
    """Sets and clears wakes for a batch of changes."""

    def __init__(
        self,
        store: ActionStore,
        queues: DueQueues,
        timers: Timers,
        routes: Routes,
        *,
        clock: Clock,
        settings: Settings,
    ) -> None:
        self._store, self._queues, self._timers, self._routes = store, queues, timers, routes
        self._clock, self._settings = clock, settings

    def __call__(self, changes: Iterable[Change]) -> None:
        """Arm the rows that became pending, near ones first; then clear those that left pending.

        Raises:
            BackendUnavailable: the queue rejected some; the complete batch may be repeated.
        """
        listed = tuple(changes)
        now = self._clock.now()
        armed = [row.became_pending for row in listed]
        near = [action for action in armed if action and action.due_at - now <= self._settings.near_limit]
        send_wakes([message_of(action) for action in near], self._queues, self._routes, self._clock)
        far = [action for action in armed if action and action.due_at - now > self._settings.near_limit]
        hops = [message_of(action) for action in far if not self._set_timer(action)]
        send_wakes(hops, self._queues, self._routes, self._clock)
        for change in listed:
            self._clear(change, now)

    def _set_timer(self, action: Action) -> bool:
        try:
            self._timers.set(message_of(action), action.due_at - self._settings.wake_early)
        except BackendUnavailable as error:
            log.warning(
                "timer not set, hopping through the queue",
                extra={"action": action.id, "reason": truncate(error)},
            )
            return False
        return True

    def _clear(self, change: Change, now: datetime) -> None:
        gone = change.left_pending
        if gone and self._may_have_timer(gone, now):
            try:
                self._timers.clear(message_of(gone))
            except BackendUnavailable as error:
                log.warning(
                    "timer not cleared, its wake will change nothing",
                    extra={"action": gone.id, "reason": truncate(error)},
                )
        if change.new is None and change.old is not None:
            if change.old.payload_offloaded:
                self._store.remove_payload(change.old.ref)
            if change.old.idempotency_key is not None:
                self._store.remove_key(change.old.ref, change.old.idempotency_key)

    def _may_have_timer(self, gone: Action, now: datetime) -> bool:
        was_far = gone.due_at - gone.pending_since > self._settings.near_limit
        return was_far and gone.due_at - self._settings.wake_early > now
