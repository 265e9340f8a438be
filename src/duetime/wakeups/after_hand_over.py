"""Free what a handed-over run held, after the table's stream has shown its end.

The party that ends a hand-over has a token, and no right to a queue. So arm sends the action's message once
more: a worker then frees the slot of its concurrency key, or wakes the run that waits for its job's lock. A
repeated message changes nothing; without one, both are found within minutes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from duetime.clock import Clock
from duetime.model.action import Action
from duetime.model.change import Change
from duetime.ports.wakeups import DueQueues, Routes
from duetime.wakeups.due_messages import message_of, send_wakes


class AfterHandOver:
    """Sends the messages after the ends of hand-overs in a batch of changes."""

    def __init__(self, queues: DueQueues, routes: Routes, *, clock: Clock) -> None:
        self._queues, self._routes, self._clock = queues, routes, clock

    def __call__(self, changes: Iterable[Change]) -> None:
        """Send the messages.

        Raises:
            BackendUnavailable: some may be missing; the complete batch may be repeated.
        """
        rows = [row for change in changes if (row := change.ended_hand_over) and _holds_others_up(row)]
        now = self._clock.now()
        messages = [replace(message_of(row), due_at=min(row.due_at, now)) for row in rows]
        if messages:
            send_wakes(messages, self._queues, self._routes, self._clock)


def _holds_others_up(row: Action) -> bool:
    return row.concurrency_key is not None or row.job is not None
