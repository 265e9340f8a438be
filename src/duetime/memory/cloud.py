"""Every step wired over the memory back ends.

`App.embedded` drives it with the real clock, a simulation with a turned one. It starts no thread; whoever drives it
says when to go on and where handlers run.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from datetime import datetime, timedelta

from duetime.app import App
from duetime.arm import Arm
from duetime.catch_up import CatchUp
from duetime.change import Change
from duetime.clock import Clock
from duetime.dispatch import Dispatch
from duetime.heartbeat import Heartbeat
from duetime.memory.notes import MemoryBookmarks, MemoryRoutes
from duetime.memory.store import MemoryStore
from duetime.memory.wakes import MemoryQueues, MemoryTimers
from duetime.ports import Delivery
from duetime.settings import Settings
from duetime.sweep import Sweep
from duetime.waking import Waker
from duetime.wheel import TURN, HandOver, Wheel, WheelTimers
from duetime.work import Work, WorkerPorts

SWEEP_EVERY = timedelta(minutes=1)
CATCH_UP_EVERY = timedelta(hours=6)
_PASS_LIMIT = timedelta(seconds=50)


class MemoryCloud:
    """One process that holds everything: store, queue, timers and the steps over them."""

    def __init__(
        self,
        app: App,
        *,
        clock: Clock,
        settings: Settings,
        instance: str = "memory",
        wake: Callable[[], None] = lambda: None,
    ) -> None:
        self.clock, self.settings = clock, settings
        self._changes: deque[Change] = deque()
        self._wake = wake
        self.store = MemoryStore(due_shards=settings.due_shards, on_change=self._changed)
        self.queues = MemoryQueues(clock, settings.queue_visibility, on_send=wake)
        self.timers = MemoryTimers()
        self._wire(app, instance)
        self._sweep_at = clock.now() + SWEEP_EVERY
        self._catch_up_at = clock.now() + CATCH_UP_EVERY

    def _wire(self, app: App, instance: str) -> None:
        clock, settings = self.clock, self.settings
        routes, bookmarks = MemoryRoutes([app.manifest]), MemoryBookmarks()
        heartbeat = Heartbeat(self.store, self.queues, clock=clock, settings=settings)
        timers = WheelTimers() if settings.timers == "wheel" else self.timers
        self.arm = Arm(self.store, self.queues, timers, routes, clock=clock, settings=settings)
        self.dispatch = Dispatch(self.queues, routes, clock=clock)
        ports = WorkerPorts(self.store, self.queues, routes, heartbeat)
        self.work = Work(app, ports, clock=clock, settings=settings, instance=instance)
        waker = Waker(self.store, self.queues, routes, clock=clock, settings=settings)
        self.sweep = Sweep(waker, bookmarks, clock=clock, settings=settings)
        self.wheel = Wheel(waker, bookmarks, clock=clock, settings=settings)
        self.hand_over = HandOver(self.store, self.arm, bookmarks, clock=clock)
        self.catch_up = CatchUp(waker, bookmarks, clock=clock, settings=settings)

    def _changed(self, change: Change) -> None:
        if change.became_pending or change.left_pending:
            self._changes.append(change)
            self._wake()

    def turn(self) -> Delivery | None:
        """Do all that is due now but running handlers; then take the next delivery, if there is one."""
        now = self.clock.now()
        self._arm_changes()
        for message in self.timers.fire(now):
            self.dispatch(message)
        if now >= self._sweep_at:
            self._sweep_at = now + SWEEP_EVERY
            ahead = self.wheel if self.settings.timers == "wheel" else self.hand_over
            ahead(stop_at=now + _PASS_LIMIT)
            self.sweep(stop_at=now + _PASS_LIMIT)
        if now >= self._catch_up_at:
            self._catch_up_at = now + CATCH_UP_EVERY
            self.catch_up(stop_at=now + _PASS_LIMIT)
            self.store.remove_expired(now)
        received = self.queues.receive()
        return None if received is None else received[1]

    def run(self, delivery: Delivery) -> None:
        """Work on a delivery; it stays in the queue, and comes again, if that raises."""
        self.work(delivery)
        self.queues.delete(delivery.receipt)

    def next_at(self) -> datetime:
        """When there is something to do again."""
        if self._changes:
            return self.clock.now()
        instants = (self._catch_up_at, self._next_sweep_at(), self.queues.next_at(), self.timers.next_at())
        return min(each for each in instants if each is not None)

    def _next_sweep_at(self) -> datetime | None:
        """The first minute's sweep that could find something: those before it are left out."""
        earliest = self.store.earliest_due()
        if earliest is None:
            return None
        has_wheel = self.settings.timers == "wheel"
        late_enough = earliest + (TURN - self.settings.near_limit if has_wheel else self.settings.grace)
        idle = max(late_enough - self._sweep_at, timedelta(0))
        return self._sweep_at + -(-idle // SWEEP_EVERY) * SWEEP_EVERY

    def _arm_changes(self) -> None:
        changes = []
        while self._changes:
            changes.append(self._changes.popleft())
        if changes:
            self.arm(changes)
