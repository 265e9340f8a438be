"""Make due messages, and send them with exact delays."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from duetime.clock import Clock
from duetime.ids import DEFAULT_WORKER
from duetime.model.action import Action
from duetime.ports.wakeups import LONGEST_DELAY, DueMessage, DueQueues, Routes, Send

_GROUP = 10
"""The most messages in one call of SQS."""


def message_of(action: Action) -> DueMessage:
    """Return the message for the action's present due time."""
    return DueMessage(
        ref=action.ref,
        type=action.type,
        due_at=action.due_at,
        generation=action.generation,
        payload_version=action.payload_version,
        is_keyed=action.concurrency_key is not None,
    )


def delay_until(due_at: datetime, now: datetime) -> int:
    """Return the delay of a message in whole seconds, 0 to 900; the worker waits for the fraction."""
    return max(0, min(LONGEST_DELAY, int((due_at - now).total_seconds())))


def send_wakes(messages: Sequence[DueMessage], queues: DueQueues, routes: Routes, clock: Clock) -> None:
    """Send each message to the queue of its type; the default worker fails types without a manifest.

    Each group computes its delays anew, because the sends before it took time.

    Raises:
        BackendUnavailable: some may not have been sent; sending all again is safe.
    """
    for first in range(0, len(messages), _GROUP):
        now = clock.now()
        queues.send(
            [
                Send(
                    routes.queue_for(message.type) or DEFAULT_WORKER,
                    message,
                    delay_until(message.due_at, now),
                )
                for message in messages[first : first + _GROUP]
            ]
        )
