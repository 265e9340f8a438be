"""Step 2, *arm*: set the wake of a row that became pending; clear the wake of one that left pending early.

The step reads the table's stream: after each write, at least once, in order for each row. Lost and repeated
wakes do no harm: the sweep finds lost ones, and the claim rejects repeated ones.

Within the near limit, a delayed message carries the wake; beyond it, a timer does. If a single timer cannot
be set, messages with delays of 15 minutes carry the wake.

A slow, throttled or hanging EventBridge must not delay the near actions of the next batch. So a batch sets
timers for at most `TIMER_TIME`, and a circuit breaker stops the calls after three failures in a row, and at
once at the quota of timers. The actions whose timers were not tried are left to the wheel, which then turns
beside the timers until a later pass has set all of them (`duetime.wakeups.wheel`). So are all far actions of
a busy deployment, since the wheel costs less for many (`TimerBudget`).

With `in_phase`, a batch sleeps once so that its messages arrive at their due times: see `PhaseSleep`.
The sleep holds up the records behind it in the stream. So there is none while a backlog waits, nor within a
minute of an action that was due within seconds: the next ones may be due as soon.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from duetime import instant
from duetime.clock import Clock
from duetime.errors import BackendUnavailable, TimerQuotaReached, truncate
from duetime.model.action import Action
from duetime.model.change import Change
from duetime.ports.backends import Backends
from duetime.ports.circuit_breaker import CircuitBreaker
from duetime.ports.wakeups import Bookmarks
from duetime.wakeups.due_messages import PhaseSleep, ReportStuck, message_of, send_wakes

log = logging.getLogger(__name__)

TIMER_TIME = timedelta(seconds=20)
"""The longest time in which one batch sets and clears timers; the last call may exceed it."""

CALLS_AT_ONCE = 8
"""Calls that wait side by side: one after another, arm would set 25 timers a second."""

FULL_BATCH = 100
"""The most records of the stream in one batch: others may wait behind it."""

_BEHIND, _SOON, _AWAKE = timedelta(seconds=2), timedelta(seconds=2), timedelta(minutes=1)
"""The age of records that shows a backlog; what is due soon; how long no batch sleeps after that."""

_WRITTEN_EVERY = timedelta(minutes=1)
"""How often one process writes that it left actions to the wheel, which stands in for much longer."""


MOST_TIMERS, PERIOD = 100, timedelta(hours=2)
"""The timers of one process in that time, which is about the life of a Lambda process."""

LULL = timedelta(days=7)
"""How long all far actions are the wheel's after a process had too many."""

WITHOUT_TIMERS, TOO_MANY, LATEST = "without-timers", "too-many-timers", "latest"
"""The bookmarks of when an action was left to the wheel last, and of when a process had too many last.

Each has the mark `LATEST`. They are two, since a write replaces all marks of a name: a process that leaves an
action to the wheel need not know of the other.
"""

_TOO_MANY_WRITTEN_EVERY = timedelta(hours=1)
"""How often one process writes that it has too many: `LULL` is much longer than this."""


class TimerBudget:
    """Counts the far actions of one process: beyond a few, the wheel costs less than timers.

    A timer costs two dollars a million, with its call of dispatch and its message. The wheel costs 30 cents a
    month, whether it sends one action or thousands. So a process sets few timers. After too many far actions,
    all processes leave them to the wheel, until no process has had too many for `LULL`.

    Args:
        most: the timers in each `PERIOD`; None: no bound.
        bookmarks: where processes write that they have too many.
        clock: the clock of the period.
    """

    def __init__(self, most: int | None, bookmarks: Bookmarks, clock: Clock) -> None:
        self._most, self._bookmarks, self._clock = most, bookmarks, clock
        self._began_at, self._used = instant.EARLIEST, 0
        self.too_many_at: datetime | None = None
        """When a process last had more far actions than timers, as far as this process knows."""
        self._written_at = instant.EARLIEST

    def allows(self, number: int) -> bool:
        """Count so many far actions; return whether they get timers, instead of the wheel."""
        if self._most is None or not number:
            return True
        now = self._clock.now()
        if now - self._began_at >= PERIOD:
            self._began_at, self._used = now, 0
            self._read()
        self._used += number
        if self._used > self._most:
            self.too_many_at = now
            self._write(now)
        return self.too_many_at is None or self.too_many_at + LULL <= now

    def _write(self, now: datetime) -> None:
        """Write that this process has too many; without a response, it tries again at its next batch."""
        if now - self._written_at < _TOO_MANY_WRITTEN_EVERY:
            return
        try:
            self._bookmarks.write(TOO_MANY, {LATEST: instant.text(now)})
        except BackendUnavailable:
            return
        self._written_at = now

    def _read(self) -> None:
        """Read whether another process had too many; without a response, this process counts alone."""
        try:
            mark = self._bookmarks.read(TOO_MANY).get(LATEST)
        except BackendUnavailable:
            return
        if mark is not None:
            self.too_many_at = max(instant.parse(mark), self.too_many_at or instant.EARLIEST)


class Arm:
    """Sets and clears wakes for a batch of changes."""

    def __init__(
        self,
        backends: Backends,
        *,
        report_stuck: ReportStuck = lambda _text: None,
        in_phase: bool = False,
        most_timers: int | None = None,
        parallel_map: Callable[..., Iterable[Any]] = map,
    ) -> None:
        self._store, self._queues, self._timers = backends.store, backends.queues, backends.timers
        self._routes, self._bookmarks = backends.routes, backends.bookmarks
        self._clock, self._settings, self._map = backends.clock, backends.settings, parallel_map
        self._breaker, self._report_stuck = CircuitBreaker(self._clock), report_stuck
        self._in_phase, self._soon_at, self._left_at = in_phase, instant.EARLIEST, instant.EARLIEST
        self._budget = TimerBudget(most_timers, backends.bookmarks, self._clock)

    def __call__(self, changes: Iterable[Change], *, stop_at: datetime | None = None) -> None:
        """Arm the rows that became pending, the soonest first; then clear those that left pending.

        After `stop_at` no timer is set or cleared: the wake of a timer that is not cleared changes nothing.

        Raises:
            BackendUnavailable: the queue rejected some; the complete batch may be repeated.
        """
        listed, now = tuple(changes), self._clock.now()
        limit = now + TIMER_TIME
        stop_at = limit if stop_at is None else min(stop_at, limit)
        pending = [action for change in listed if (action := change.became_pending)]
        is_full = len(listed) >= FULL_BATCH
        may_sleep = self._may_sleep(pending, now) and not is_full
        fewest = self._settings.made.sleeps_from
        at_once = CALLS_AT_ONCE if self._map is not map else 1
        sleep = PhaseSleep(self._clock, stop_at, fewest=fewest, at_once=at_once) if may_sleep else None
        near, far = self._near_and_far(pending)
        self._send(near, sleep)
        if self._budget.allows(len(far)):
            failed, untried = self._set_timers(far, stop_at)
            self._send(failed)
            if untried:
                log.warning("timers not set, the wheel stands in", extra={"actions": len(untried)})
            self._leave_to_wheel(untried)
        else:
            self._leave_to_wheel(far)
        for change in listed:
            self._clear(change, now, stop_at)

    def _may_sleep(self, pending: Sequence[Action], now: datetime) -> bool:
        """Return whether a sleep delays no action that is or will be in the stream, as far as it is known."""
        if any(action.due_at - now < _SOON for action in pending):
            self._soon_at = now
        newest = max((action.pending_since for action in pending), default=now)
        return self._in_phase and now - self._soon_at >= _AWAKE and now - newest < _BEHIND

    def set_wakes(
        self, pending: Iterable[Action], *, stop_at: datetime
    ) -> tuple[Sequence[Action], Sequence[Action]]:
        """Send the near actions and set timers of the far ones, the soonest first.

        Args:
            pending: the actions.
            stop_at: after it no timer is set.

        Returns:
            The actions whose timer failed, and those for which none was tried or there is no room.

        Raises:
            BackendUnavailable: the queue rejected some; a repeat is safe.
        """
        near, far = self._near_and_far(pending)
        self._send(near)
        return self._set_timers(far, stop_at)

    def _near_and_far(self, pending: Iterable[Action]) -> tuple[Sequence[Action], Sequence[Action]]:
        """Return the actions within the near limit and those beyond it, each the soonest first.

        An action that its predecessors hold is in neither: its release arms it.
        """
        free = [action for action in pending if not action.is_held]
        by_time, limit = sorted(free, key=lambda action: action.due_at), self._settings.near_limit
        now = self._clock.now()
        near = [action for action in by_time if action.due_at - now <= limit]
        return near, by_time[len(near) :]

    def _set_timers(
        self, far: Sequence[Action], stop_at: datetime
    ) -> tuple[Sequence[Action], Sequence[Action]]:
        """Set timers, several at once after a success; return as `set_wakes` does."""
        failed, untried, at_once = list[Action](), list[Action](), 1

        def is_set(action: Action) -> bool | None:
            return None if self._is_over(stop_at) else self._set_timer(action)

        while far:
            group, far = far[:at_once], far[at_once:]
            results = list(self._map(is_set, group))
            at_once = CALLS_AT_ONCE if all(results) else 1
            for action, result in zip(group, results, strict=True):
                if not result:
                    (failed if result is False and not self._breaker.is_open else untried).append(action)
        return failed, untried

    def _leave_to_wheel(self, actions: Sequence[Action]) -> None:
        now = self._clock.now()
        if actions and now - self._left_at >= _WRITTEN_EVERY:
            self._bookmarks.write(WITHOUT_TIMERS, {LATEST: instant.text(now)})
            self._left_at = now

    def _send(self, actions: Sequence[Action], sleep: PhaseSleep | None = None) -> None:
        messages, start = [message_of(action) for action in actions], self._settings.start
        for aside in send_wakes(
            messages, self._queues, self._routes, self._clock, start=start, sleep=sleep, map_=self._map
        ):
            log.error("actions set aside", extra={"queue": aside.queue, "reason": aside.text})
            self._report_stuck(aside.text)

    def _set_timer(self, action: Action) -> bool:
        wake_at = action.due_at - self._settings.wake_early
        problem = self._called(lambda: self._timers.set(message_of(action), wake_at))
        if problem:
            log.warning("timer not set", extra={"action": action.id, "reason": problem})
        return not problem

    def _is_over(self, stop_at: datetime) -> bool:
        """Return whether EventBridge must not be called now."""
        return self._breaker.is_open or self._clock.now() >= stop_at

    def _called(self, call: Callable[[], None]) -> str:
        """Call EventBridge; return why the call failed, empty after a success."""
        try:
            call()
        except TimerQuotaReached as error:
            self._breaker.open()
            self._report_stuck(str(error))
            return truncate(error)
        except BackendUnavailable as error:
            self._breaker.failed()
            return truncate(error)
        self._breaker.succeeded()
        return ""

    def _clear(self, change: Change, now: datetime, stop_at: datetime) -> None:
        gone = change.left_pending
        if gone and self._may_have_timer(gone, now) and not self._is_over(stop_at):
            problem = self._called(lambda: self._timers.clear(message_of(gone)))
            if problem:
                log.warning(
                    "timer not cleared, its wake will change nothing",
                    extra={"action": gone.id, "reason": problem},
                )
        if change.new is None and change.old is not None:
            if change.old.payload_size:
                self._store.remove_payload(change.old.ref)
            if change.old.idempotency_key is not None:
                self._store.remove_key(change.old.ref, change.old.idempotency_key)

    def _may_have_timer(self, gone: Action, now: datetime) -> bool:
        if gone.due_at - self._settings.wake_early <= now:
            return False
        return gone.due_at - gone.pending_since > self._settings.near_limit
