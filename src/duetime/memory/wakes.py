"""Queues and timers in memory, with a given clock and without threads."""

from __future__ import annotations

import heapq
import itertools
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from duetime.clock import Clock
from duetime.ports.wakeups import Delivery, DueMessage, Send, timer_name


@dataclass(slots=True)
class _Waiting:
    queue: str
    message: DueMessage
    queued_at: datetime
    visible_at: datetime


class MemoryQueues:
    """The workers' queues.

    A received message is invisible until it is deleted or its visibility timeout ends.

    See `duetime.ports.wakeups.DueQueues`.
    """

    def __init__(
        self, clock: Clock, visibility: timedelta, on_send: Callable[[], None] = lambda: None
    ) -> None:
        self._clock, self._visibility, self._on_send = clock, visibility, on_send
        self._waiting: dict[str, _Waiting] = {}
        self._by_time: list[tuple[datetime, int, str]] = []
        self._numbers = itertools.count()
        self._lock = threading.Lock()

    def send(self, sends: Sequence[Send]) -> None:
        now = self._clock.now()
        with self._lock:
            for send in sends:
                visible_at = now + timedelta(seconds=send.delay)
                self._wait(
                    str(next(self._numbers)), _Waiting(send.queue, send.message, visible_at, visible_at)
                )
        self._on_send()

    def extend(self, queue: str, receipt: str, seconds: int) -> None:
        del queue
        with self._lock:
            waiting = self._waiting.get(receipt)
            if waiting:
                waiting.visible_at = self._clock.now() + timedelta(seconds=seconds)
                self._wait(receipt, waiting)

    def receive(self) -> tuple[str, Delivery] | None:
        """Receive the next visible message; return its queue and delivery, or None if there is none."""
        now = self._clock.now()
        with self._lock:
            while self._by_time and self._by_time[0][0] <= now:
                visible_at, _, receipt = heapq.heappop(self._by_time)
                waiting = self._waiting.get(receipt)
                if waiting is None or waiting.visible_at != visible_at:
                    continue
                waiting.visible_at = now + self._visibility
                self._wait(receipt, waiting)
                return waiting.queue, Delivery(waiting.message, waiting.queued_at, receipt)
        return None

    def delete(self, receipt: str) -> None:
        with self._lock:
            self._waiting.pop(receipt, None)

    @property
    def messages(self) -> Mapping[str, DueMessage]:
        """All messages by receipt, for tests and simulations."""
        with self._lock:
            return {receipt: waiting.message for receipt, waiting in self._waiting.items()}

    def next_at(self) -> datetime | None:
        with self._lock:
            while self._by_time and not self._is_current(*self._by_time[0]):
                heapq.heappop(self._by_time)
            return self._by_time[0][0] if self._by_time else None

    def _wait(self, receipt: str, waiting: _Waiting) -> None:
        self._waiting[receipt] = waiting
        heapq.heappush(self._by_time, (waiting.visible_at, next(self._numbers), receipt))

    def _is_current(self, visible_at: datetime, _number: int, receipt: str) -> bool:
        waiting = self._waiting.get(receipt)
        return waiting is not None and waiting.visible_at == visible_at


class MemoryTimers:
    """One timer for each generation of an action, under the name that it has on EventBridge.

    See `duetime.ports.wakeups.Timers`.
    """

    def __init__(self) -> None:
        self._set: dict[str, tuple[datetime, DueMessage]] = {}
        self._by_time: list[tuple[datetime, int, str]] = []
        self._numbers = itertools.count()
        self._lock = threading.Lock()

    def set(self, message: DueMessage, wake_at: datetime) -> None:
        key = timer_name(message)
        with self._lock:
            self._set[key] = (wake_at, message)
            heapq.heappush(self._by_time, (wake_at, next(self._numbers), key))

    def clear(self, message: DueMessage) -> None:
        with self._lock:
            self._set.pop(timer_name(message), None)

    def fire(self, now: datetime) -> tuple[DueMessage, ...]:
        """Remove and return the timers that are due."""
        fired = []
        with self._lock:
            while self._by_time and self._by_time[0][0] <= now:
                key = heapq.heappop(self._by_time)[2]
                timer = self._set.get(key)
                if timer and timer[0] <= now:
                    fired.append(self._set.pop(key)[1])
        return tuple(fired)

    def next_at(self) -> datetime | None:
        with self._lock:
            while self._by_time and self._by_time[0][2] not in self._set:
                heapq.heappop(self._by_time)
            return self._by_time[0][0] if self._by_time else None

    def __len__(self) -> int:
        return len(self._set)
