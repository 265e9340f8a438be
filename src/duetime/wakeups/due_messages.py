"""Make due messages, and send them with exact delays."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from duetime.clock import Clock
from duetime.errors import BackendMisconfigured, QueueMissing
from duetime.ids import DEFAULT_WORKER
from duetime.model.action import Action
from duetime.ports.wakeups import LONGEST_DELAY, DueMessage, DueQueues, Routes, Send

ReportStuck = Callable[[str], None]
"""Reports to the operators, as text, what waits until they change something."""

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


@dataclass(frozen=True, slots=True)
class SetAside:
    """Messages that their queue permanently rejects; the sweep sends them again in its next band."""

    queue: str
    number: int
    reason: str

    @property
    def text(self) -> str:
        """What an operator reads about them."""
        return f"{self.number} actions of the queue {self.queue!r} wait: {self.reason}"


def sum_of(asides: Sequence[SetAside]) -> tuple[SetAside, ...]:
    """Return one for each queue, with the sum of the numbers."""
    by_queue: dict[str, SetAside] = {}
    for aside in asides:
        before = by_queue.get(aside.queue)
        by_queue[aside.queue] = replace(aside, number=aside.number + (before.number if before else 0))
    return tuple(by_queue.values())


def send_wakes(
    messages: Sequence[DueMessage],
    queues: DueQueues,
    routes: Routes,
    clock: Clock,
    *,
    leaving: type[BackendMisconfigured] = QueueMissing,
) -> tuple[SetAside, ...]:
    """Send each message to the queue of its type; the default worker fails types without a manifest.

    Each group computes its delays anew, because the sends before it took time.

    Args:
        messages: the messages.
        queues: the workers' queues.
        routes: the queue of each type.
        clock: the clock of the delays.
        leaving: a queue's error that stops no other queue's messages.

    Returns:
        What was set aside after such an error, by queue.

    Raises:
        BackendUnavailable: some may not have been sent; sending all again is safe.
    """
    by_queue: dict[str, list[DueMessage]] = defaultdict(list)
    for message in messages:
        by_queue[routes.queue_for(message.type) or DEFAULT_WORKER].append(message)
    asides = []
    for queue, mine in by_queue.items():
        sent = 0
        try:
            for sent in range(0, len(mine), _GROUP):
                _send_group(queue, mine[sent : sent + _GROUP], queues, clock)
        except leaving as error:
            asides.append(SetAside(queue, len(mine) - sent, str(error)))
    return tuple(asides)


def send_wake(message: DueMessage, queues: DueQueues, routes: Routes, clock: Clock) -> None:
    """Send one message to the queue of its type.

    Raises:
        BackendMisconfigured: its queue does not exist, or denies it.
        BackendUnavailable: it may not have been sent; sending it again is safe.
    """
    _send_group(routes.queue_for(message.type) or DEFAULT_WORKER, [message], queues, clock)


def _send_group(queue: str, messages: Sequence[DueMessage], queues: DueQueues, clock: Clock) -> None:
    """Send messages of one queue with their delays from now."""
    now = clock.now()
    queues.send([Send(queue, message, delay_until(message.due_at, now)) for message in messages])
