"""Make due messages, and send them with exact delays."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from duetime.clock import Clock
from duetime.errors import BackendMisconfigured, QueueMissing
from duetime.ids import DEFAULT_WORKER
from duetime.model.action import Action
from duetime.ports.wakeups import LONGEST_DELAY, DueMessage, DueQueues, Routes, Send
from duetime.settings import Start
from duetime.wakeups.phase import PhaseSleep, SendCall, calls_at_once, calls_in_phase

ReportStuck = Callable[[str], None]
"""Reports to the operators, as text, what waits until they change something."""

_SECOND = timedelta(seconds=1)


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


def delay_until(due_at: datetime, now: datetime, start: Start = "instant") -> int:
    """Return the delay of a message in whole seconds, 0 to 900.

    With the start `instant` it is rounded down, and the worker waits for the fraction; with `second` up.
    """
    left = due_at - now
    seconds = -(-left // _SECOND) if start == "second" else left // _SECOND
    return max(0, min(LONGEST_DELAY, seconds))


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
    start: Start = "instant",
    sleep: PhaseSleep | None = None,
    leaving: type[BackendMisconfigured] = QueueMissing,
) -> tuple[SetAside, ...]:
    """Send each message to the queue of its type; the default worker fails types without a manifest.

    Each call computes its delays again, because the calls before it took time.

    Args:
        messages: the messages.
        queues: the workers' queues.
        routes: the queue of each type.
        clock: the clock of the delays.
        start: the setting, which rounds the delays.
        sleep: sleeps until the phases of the due times; None: send all at once.
        leaving: a queue's error that stops no other queue's messages.

    Returns:
        What was set aside after such an error, by queue.

    Raises:
        BackendUnavailable: some may not have been sent; sending all again is safe.
    """
    asides: dict[str, SetAside] = {}
    for call in _calls_of(messages, routes, clock, start, sleep):
        left = asides.get(call.queue)
        if left is None:
            try:
                _send_call(call, queues, clock, start, sleep)
            except leaving as error:
                left = SetAside(call.queue, 0, str(error))
        if left is not None:
            asides[call.queue] = replace(left, number=left.number + len(call.messages))
    return tuple(asides.values())


def send_wake(
    message: DueMessage,
    queues: DueQueues,
    routes: Routes,
    clock: Clock,
    *,
    start: Start = "instant",
    sleep: PhaseSleep | None = None,
) -> None:
    """Send one message to the queue of its type; the arguments are those of `send_wakes`.

    Raises:
        BackendMisconfigured: its queue does not exist, or denies it.
        BackendUnavailable: it may not have been sent; sending it again is safe.
    """
    for call in _calls_of([message], routes, clock, start, sleep):
        _send_call(call, queues, clock, start, sleep)


def _calls_of(
    messages: Sequence[DueMessage], routes: Routes, clock: Clock, start: Start, sleep: PhaseSleep | None
) -> Iterable[SendCall]:
    by_queue: dict[str, list[DueMessage]] = defaultdict(list)
    for message in messages:
        by_queue[routes.queue_for(message.type) or DEFAULT_WORKER].append(message)
    if sleep is None or start == "second":
        return [call for queue, mine in by_queue.items() for call in calls_at_once(queue, mine)]
    return calls_in_phase(by_queue, clock.now(), sleep.fewest)


def _send_call(
    call: SendCall, queues: DueQueues, clock: Clock, start: Start, sleep: PhaseSleep | None
) -> None:
    """Send the messages of one call with their delays from now, at its time."""
    if sleep is not None and call.at is not None:
        sleep.until(call.at)
    now = clock.now()
    queues.send(
        [Send(call.queue, message, delay_until(message.due_at, now, start)) for message in call.messages]
    )
