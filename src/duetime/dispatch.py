"""Step 3, *dispatch*: a timer's wake becomes a due message with the exact remaining delay.

A timer wakes early and up to a minute late; what remains until the due time is carried by the queue. It reads no row:
a stale wake becomes a message whose claim is refused.
"""

from __future__ import annotations

from duetime.clock import Clock
from duetime.ports import DueMessage, DueQueues, Routes
from duetime.wakes import delay_until, send_wakes


class Dispatch:
    """Turns wakes into due messages. Holds no user code."""

    def __init__(self, queues: DueQueues, routes: Routes, *, clock: Clock) -> None:
        self._queues, self._routes, self._clock = queues, routes, clock

    def __call__(self, message: DueMessage) -> int:
        """Send `message` to its worker's queue; returns the seconds that remain.

        Raises:
            BackendUnavailable: the queue did not take it; the wake may be repeated.
        """
        send_wakes([message], self._queues, self._routes, self._clock)
        return delay_until(message.due_at, self._clock.now())
