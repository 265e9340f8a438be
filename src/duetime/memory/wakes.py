"""Queues, timers and the event bus in memory, with a given clock and without threads."""

from __future__ import annotations

import heapq
import itertools
import threading
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from duetime import instant
from duetime.clock import Clock
from duetime.ids import EVENT_SOURCE
from duetime.model.lifecycle import LifecycleEvent
from duetime.ports.wakeups import Delivery, DueMessage, Send, timer_name

KEPT = 10_000
"""The number of latest events in `published`."""


class MemoryEventBus:
    """Calls `deliver` with each event in EventBridge's form, which subscribers receive.

    See `duetime.ports.wakeups.EventBus`.
    """

    def __init__(self, deployment: str, deliver: Callable[[Mapping[str, Any]], None]) -> None:
        self._deployment, self._deliver = deployment, deliver
        self.published: deque[Mapping[str, Any]] = deque(maxlen=KEPT)

    def put(self, events: Sequence[LifecycleEvent]) -> None:
        for lifecycle_event in events:
            event = {
                "id": str(uuid5(NAMESPACE_OID, lifecycle_event.id)),
                "time": instant.text(lifecycle_event.at.replace(microsecond=0)),
                "source": EVENT_SOURCE,
                "detail-type": lifecycle_event.type,
                "detail": lifecycle_event.detail(self._deployment),
            }
            self.published.append(event)
            self._deliver(event)


_Group = tuple[str, str]
"""A queue and a tenant."""


@dataclass(slots=True)
class _Waiting:
    group: _Group
    message: DueMessage
    queued_at: datetime
    visible_at: datetime
    is_received: bool = False


_Turn = tuple[datetime, int, str]
"""When a message became visible, a number, and its receipt."""


class MemoryQueues:
    """The workers' queues, fair among tenants.

    A received message is invisible until it is deleted or its visibility timeout ends.

    See `duetime.ports.wakeups.DueQueues`.
    """

    def __init__(
        self, clock: Clock, visibility: timedelta, on_send: Callable[[], None] = lambda: None
    ) -> None:
        self._clock, self.visibility, self._on_send = clock, visibility, on_send
        self._waiting: dict[str, _Waiting] = {}
        self._invisible: list[_Turn] = []
        self._visible: dict[_Group, list[_Turn]] = defaultdict(list)
        self._in_flight: Counter[_Group] = Counter()
        self._received_from: dict[_Group, int] = {}
        self._numbers = itertools.count()
        self._lock = threading.Lock()

    def send(self, sends: Sequence[Send]) -> None:
        now = self._clock.now()
        with self._lock:
            for send in sends:
                visible_at = now + timedelta(seconds=send.delay)
                receipt, group = str(next(self._numbers)), (send.queue, send.message.ref.tenant_id)
                self._waiting[receipt] = _Waiting(group, send.message, visible_at, visible_at)
                self._hide(receipt, visible_at)
        self._on_send()

    def extend(self, queue: str, receipt: str, seconds: int) -> None:
        del queue
        with self._lock:
            if receipt in self._waiting:
                self._hide(receipt, self._clock.now() + timedelta(seconds=seconds))

    def receive(
        self, queue: str | None = None, *, but: str | None = None, first: str | None = None
    ) -> tuple[str, Delivery] | None:
        """Receive the next visible message, of one queue or of all `but` one; those of `first` come first.

        Return its queue and delivery, or None.

        It is the oldest of the tenant with the fewest in flight: received, and neither deleted nor visible
        again. Among equals it is the tenant that has waited longest for a turn.
        """
        now = self._clock.now()
        with self._lock:
            self._show_due(now)
            groups = [
                group
                for group in list(self._visible)
                if queue in {None, group[0]} and group[0] != but and self._first(group)
            ]
            if not groups:
                return None
            preferred = [group for group in groups if group[0] == first]
            group = min(preferred or groups, key=self._order)
            self._received_from[group] = next(self._numbers)
            receipt = heapq.heappop(self._visible[group])[2]
            waiting = self._waiting[receipt]
            self._count(waiting, is_received=True)
            self._hide(receipt, now + self.visibility)
            return group[0], Delivery(waiting.message, waiting.queued_at, receipt, queue=group[0])

    def delete(self, receipt: str) -> None:
        with self._lock:
            if waiting := self._waiting.pop(receipt, None):
                self._count(waiting, is_received=False)

    @property
    def messages(self) -> Mapping[str, DueMessage]:
        """All messages by receipt, for tests and simulations."""
        with self._lock:
            return {receipt: waiting.message for receipt, waiting in self._waiting.items()}

    def next_at(self, queue: str | None = None, *, but: str | None = None) -> datetime | None:
        """Return when the next message, as for `receive`, may be received; perhaps sooner."""
        with self._lock:
            while self._invisible and not self._is_current(self._invisible[0]):
                heapq.heappop(self._invisible)
            groups = [group for group in list(self._visible) if queue in {None, group[0]} and group[0] != but]
            firsts = [first for group in groups if (first := self._first(group))]
            return min((at for at, *_ in [*firsts, *self._invisible[:1]]), default=None)

    def _hide(self, receipt: str, until: datetime) -> None:
        self._waiting[receipt].visible_at = until
        heapq.heappush(self._invisible, (until, next(self._numbers), receipt))

    def _show_due(self, now: datetime) -> None:
        while self._invisible and self._invisible[0][0] <= now:
            turn = heapq.heappop(self._invisible)
            if self._is_current(turn):
                waiting = self._waiting[turn[2]]
                self._count(waiting, is_received=False)
                heapq.heappush(self._visible[waiting.group], turn)

    def _order(self, group: _Group) -> tuple[int, int, _Turn]:
        return self._in_flight[group], self._received_from.get(group, -1), self._visible[group][0]

    def _first(self, group: _Group) -> _Turn | None:
        """Return the group's oldest visible message."""
        turns = self._visible[group]
        while turns and not self._is_current(turns[0]):
            heapq.heappop(turns)
        if turns:
            return turns[0]
        del self._visible[group]
        return None

    def _count(self, waiting: _Waiting, *, is_received: bool) -> None:
        if waiting.is_received is not is_received:
            self._in_flight[waiting.group] += 1 if is_received else -1
            waiting.is_received = is_received

    def _is_current(self, turn: _Turn) -> bool:
        visible_at, _, receipt = turn
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
