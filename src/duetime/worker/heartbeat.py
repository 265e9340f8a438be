"""The heartbeat: while a handler runs, renew its lease and read cancel requests.

One thread serves all runs of a process, and touches nothing for a run shorter than the poll. A handler that
holds the interpreter without a break (a long C call that keeps the GIL) starves this thread: its lease then
ends and another worker takes over; the fence keeps the first one's settle from counting.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from duetime.errors import DuetimeError, truncate
from duetime.jobs.trusted_reading import KnownRegion
from duetime.model.action import Action, ActionRef
from duetime.ports.backends import Backends
from duetime.ports.wakeups import Delivery
from duetime.settings import Settings

log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class WatchedRun:
    """A run under way, with its message.

    Its lease counts in the worker's monotonic seconds from before the claim: a time of day that is set back,
    or a pause between claim and handler, gives it no longer lease.
    """

    action: Action
    stop: threading.Event
    deadline: datetime
    delivery: Delivery
    queue: str
    since: float
    """The monotonic seconds just before the claim."""
    renewed: float
    rests: bool = False
    """It gets no beats: its run commits."""
    is_lost: bool = False
    """Another run has its lease."""

    def now(self, elapsed: float) -> datetime:
        """Return the time of day that follows the claim's."""
        return self.action.attempts[-1].started_at + timedelta(seconds=elapsed - self.since)


class Heartbeat:
    """Watches the runs of this process."""

    def __init__(
        self,
        backends: Backends,
        *,
        pause: Callable[[float], object] = time.sleep,  # noqa: TID251 - see below
    ) -> None:
        """Make one for a process; its thread starts with the first run.

        Args:
            backends: hold the leases, and the messages of the runs.
            pause: waits between two polls, for a number of seconds. The default waits in the machine's time:
                a background thread must not turn a simulated clock.
        """
        self._store, self._queues, self._pause = backends.store, backends.queues, pause
        self._clock, self._settings = backends.clock, backends.settings
        self._region = KnownRegion(backends.regions, backends.clock)
        self._watched: set[WatchedRun] = set()
        self._beaten: WatchedRun | None = None
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._thread: threading.Thread | None = None

    @contextmanager
    def watching(
        self,
        action: Action,
        stop: threading.Event,
        deadline: datetime,
        delivery: Delivery,
        queue: str,
        *,
        since: float,
    ) -> Iterator[WatchedRun]:
        """Beat for a claimed action until the block ends; `stop` is set when its run should end.

        Args:
            action: as claimed.
            stop: set on a request to cancel, and when the lease is lost.
            deadline: the handler's; later the lease is no longer renewed.
            delivery: its message, hidden for as long as the lease.
            queue: the message's.
            since: the clock's `elapsed` before the claim, from which the lease counts.
        """
        watched = WatchedRun(action, stop, deadline, delivery, queue, since=since, renewed=since)
        self._begin(watched)
        try:
            yield watched
        finally:
            with self._lock:
                self._watched.discard(watched)

    def hide(self, delivery: Delivery, queue: str) -> None:
        """Hide the message of a claim until the lease ends.

        A failure is only logged: the message then comes sooner and is put off. An error here would end the
        run, and its action would wait for the end of the lease.
        """
        try:
            self._queues.extend(queue, delivery.receipt, visibility(self._settings))
        except DuetimeError as error:
            log.warning(
                "message not hidden, the run goes on",
                extra={
                    "action": delivery.message.ref.id,
                    "tenant": delivery.message.ref.tenant_id,
                    "reason": truncate(error),
                },
            )

    def still_holds(self, watched: WatchedRun) -> bool:
        """Return whether the lease still holds, just before its handler begins; renew it if that is due."""
        since = self._since_renewal(watched)
        if since >= self._settings.heartbeat:
            self.look_after(watched)
            since = self._since_renewal(watched)
        return not watched.is_lost and since < self._settings.lease

    def _since_renewal(self, watched: WatchedRun) -> timedelta:
        return timedelta(seconds=self._clock.elapsed() - watched.renewed)

    def rest(self, action: Action) -> None:
        """Stop beating for a run, and wait for a beat under way: it would conflict with a transaction."""
        with self._changed:
            self._set_rests(action, True)
            self._changed.wait_for(lambda: self._beaten is None or self._beaten.action is not action)

    def resume(self, action: Action) -> None:
        """Beat again for a run."""
        with self._changed:
            self._set_rests(action, False)

    @property
    def resting(self) -> frozenset[ActionRef]:
        """The actions of the runs that `rest` has stopped."""
        return frozenset(watched.action.ref for watched in self._watched if watched.rests)

    def _set_rests(self, action: Action, rests: bool) -> None:
        for watched in self._watched:
            if watched.action is action:
                watched.rests = rests

    def _begin(self, watched: WatchedRun) -> None:
        with self._lock:
            self._watched.add(watched)
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._beat, name="duetime-heartbeat", daemon=True)
                self._thread.start()
            if len(self._watched) == 1:  # the thread waits only while there is none
                self._changed.notify_all()

    def _beat(self) -> None:
        poll = self._settings.cancel_poll.total_seconds()
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._watched)
                runs = tuple(self._watched)
            self._pause(poll)
            for watched in runs:
                self._beat_once(watched)

    def _beat_once(self, watched: WatchedRun) -> None:
        with self._changed:
            if watched not in self._watched:
                return
            self._beaten = watched
        try:
            self.look_after(watched)
        finally:
            with self._changed:
                self._beaten = None
                self._changed.notify_all()

    def look_after(self, watched: WatchedRun) -> None:
        """Beat once: renew the lease if that is due; otherwise read whether the run should end."""
        if watched.rests:
            return
        try:
            self._renew_or_peek(watched)
        except DuetimeError as error:
            log.warning(
                "heartbeat failed, trying again",
                extra={
                    "action": watched.action.id,
                    "tenant": watched.action.tenant_id,
                    "reason": truncate(error),
                },
            )

    def _renew_or_peek(self, watched: WatchedRun) -> None:
        elapsed = self._clock.elapsed()
        now = watched.now(elapsed)
        if now > watched.deadline:
            return  # the lease of an overdue run may end
        if not self._region.is_current(watched.action.fence):
            found = None
        elif self._since_renewal(watched) >= self._settings.heartbeat:
            found = self._store.renew(watched.action, now + self._settings.lease)
            if found:
                watched.renewed = elapsed
                self._queues.extend(watched.queue, watched.delivery.receipt, visibility(self._settings))
        else:
            found = self._store.peek(watched.action)
        watched.is_lost = found is None
        if found is None or found.cancel_requested:
            watched.stop.set()


def visibility(settings: Settings) -> int:
    """Return how many seconds a claimed message stays invisible: just past the end of the lease."""
    return int((settings.lease + settings.clock_skew).total_seconds()) + 1
