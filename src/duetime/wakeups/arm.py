"""Step 2, *arm*: a row that became pending gets its wake; a row that left pending early loses it.

It reads the table's stream, so it comes after the fact, at least once and in each row's order. Whatever it
loses or doubles is harmless: the sweep finds what was lost, the claim refuses what was doubled.

Due within the near limit, the queue's own delay carries the wake. Later, a timer does. When timers cannot be
set, the wake hops through the queue in delays of 15 minutes instead, so that one throttled service holds up
nothing.
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
        """Arm what became pending, near ones first; then clear what left pending.

        Raises:
            BackendUnavailable: the queue took not all; the batch may be given again whole.
        """
        listed = tuple(changes)
        now = self._clock.now()
        armed = [row.became_pending for row in listed]
        near = [action for action in armed if action and self._is_near(action, now)]
        far = [action for action in armed if action and not self._is_near(action, now)]
        self._send(near)
        self._send([action for action in far if not self._set_timer(action)])
        for change in listed:
            self._clear(change, now)

    def _is_near(self, action: Action, now: datetime) -> bool:
        return action.due_at - now <= self._settings.near_limit

    def _send(self, actions: Iterable[Action]) -> None:
        messages = [message_of(action) for action in actions]
        send_wakes(messages, self._queues, self._routes, self._clock)

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
            self._remove_what_is_left(change.old)

    def _remove_what_is_left(self, gone: Action) -> None:
        """What goes with its row, and is an item of its own."""
        if gone.payload_offloaded:
            self._store.remove_payload(gone.ref)
        if gone.idempotency_key is not None:
            self._store.remove_key(gone.ref, gone.idempotency_key)

    def _may_have_timer(self, gone: Action, now: datetime) -> bool:
        was_far = gone.due_at - gone.pending_since > self._settings.near_limit
        return was_far and gone.due_at - self._settings.wake_early > now
