"""Step 2, *arm*: set the wake of a row that became pending; clear the wake of one that left pending early.

The step reads the table's stream: after each write, at least once, in order for each row. Lost and repeated
wakes do no harm: the sweep finds lost ones, and the claim rejects repeated ones.

Within the near limit, a delayed message carries the wake; beyond it, a timer does. If a timer cannot be set,
messages with delays of 15 minutes carry the wake.

A slow, throttled or hanging EventBridge must not delay the near actions of the next batch. So a batch sets
timers for at most `TIMER_TIME`, and a circuit breaker stops the calls after three failures in a row.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta

from duetime.clock import Clock
from duetime.errors import BackendUnavailable, truncate
from duetime.jobs.circuit_breaker import CircuitBreaker
from duetime.model.action import Action
from duetime.model.change import Change
from duetime.ports.actions import ActionStore
from duetime.ports.wakeups import DueQueues, Routes, Timers
from duetime.settings import Settings
from duetime.wakeups.due_messages import ReportStuck, message_of, send_wakes

log = logging.getLogger(__name__)

TIMER_TIME = timedelta(seconds=20)
"""The longest time in which one batch sets and clears timers; the last call may exceed it."""


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
        report_stuck: ReportStuck = lambda _text: None,
    ) -> None:
        self._store, self._queues, self._timers, self._routes = store, queues, timers, routes
        self._clock, self._settings = clock, settings
        self._breaker, self._report_stuck = CircuitBreaker(clock), report_stuck

    def __call__(self, changes: Iterable[Change], *, stop_at: datetime | None = None) -> None:
        """Arm the rows that became pending, the soonest first; then clear those that left pending.

        After `stop_at` no timer is set or cleared.

        Raises:
            BackendUnavailable: the queue rejected some; the complete batch may be repeated.
        """
        listed, now = tuple(changes), self._clock.now()
        limit = now + TIMER_TIME
        stop_at = limit if stop_at is None else min(stop_at, limit)
        pending = sorted(filter(None, (row.became_pending for row in listed)), key=lambda row: row.due_at)
        near = [action for action in pending if action.due_at - now <= self._settings.near_limit]
        self._send(near)
        self._send([action for action in pending[len(near) :] if not self._set_timer(action, stop_at)])
        for change in listed:
            self._clear(change, now, stop_at)

    def _send(self, actions: Sequence[Action]) -> None:
        messages = [message_of(action) for action in actions]
        for aside in send_wakes(messages, self._queues, self._routes, self._clock):
            log.error("actions set aside", extra={"queue": aside.queue, "reason": aside.text})
            self._report_stuck(aside.text)

    def _set_timer(self, action: Action, stop_at: datetime) -> bool:
        problem = self._called(
            stop_at, lambda: self._timers.set(message_of(action), action.due_at - self._settings.wake_early)
        )
        if problem:
            log.warning(
                "timer not set, hopping through the queue", extra={"action": action.id, "reason": problem}
            )
        return not problem

    def _called(self, stop_at: datetime, call: Callable[[], None]) -> str:
        """Call EventBridge; return why the call failed or was not made, empty after a success."""
        if self._breaker.is_open:
            return "EventBridge Scheduler failed several times in a row; it is called again after a minute"
        if self._clock.now() >= stop_at:
            return "the time of the batch is over"
        try:
            call()
        except BackendUnavailable as error:
            self._breaker.failed()
            return truncate(error)
        self._breaker.succeeded()
        return ""

    def _clear(self, change: Change, now: datetime, stop_at: datetime) -> None:
        gone = change.left_pending
        if gone and self._may_have_timer(gone, now):
            problem = self._called(stop_at, lambda: self._timers.clear(message_of(gone)))
            if problem:
                log.warning(
                    "timer not cleared, its wake will change nothing",
                    extra={"action": gone.id, "reason": problem},
                )
        if change.new is None and change.old is not None:
            if change.old.payload_offloaded:
                self._store.remove_payload(change.old.ref)
            if change.old.idempotency_key is not None:
                self._store.remove_key(change.old.ref, change.old.idempotency_key)

    def _may_have_timer(self, gone: Action, now: datetime) -> bool:
        was_far = gone.due_at - gone.pending_since > self._settings.near_limit
        return was_far and gone.due_at - self._settings.wake_early > now
