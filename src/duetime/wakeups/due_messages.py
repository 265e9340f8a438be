"""Make due messages, and send them with exact delays."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import groupby
from operator import attrgetter

from duetime._english import counted
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
        is_high=action.is_high,
    )


def delay_until(due_at: datetime, now: datetime, start: Start = "instant") -> int:
    """Return the delay of a message in whole seconds, 0 to 900.

    With the start `instant` it is rounded down, and the worker waits for the fraction; with `second` up.
    """
    left = due_at - now
    return max(0, min(LONGEST_DELAY, -(-left // _SECOND) if start == "second" else left // _SECOND))


@dataclass(frozen=True, slots=True)
class SetAside:
    """Messages that their queue permanently rejects; the sweep sends them again in its next band."""

    queue: str
    number: int
    reason: str

    @property
    def text(self) -> str:
        """What an operator reads about them."""
        return f"{counted(self.number, 'action')} of the queue {self.queue!r} cannot be sent: {self.reason}"


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
    map_: Callable[..., Iterable[str | None]] = map,
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
        map_: makes the calls of one phase side by side, as an executor's `map`; by default one after another.

    Returns:
        What was set aside after such an error, by queue.

    Raises:
        BackendUnavailable: some may not have been sent; sending all again is safe.
    """
    asides: dict[str, SetAside] = {}

    def problem_of(call: SendCall) -> str | None:
        if call.queue in asides:
            return asides[call.queue].reason
        try:
            _send_call(call, queues, clock, start)
        except leaving as error:
            return str(error)
        return None

    for at, calls in groupby(_calls_of(messages, routes, clock, start, sleep), attrgetter("at")):
        if sleep is not None and at is not None:
            sleep.until(at)
        for call, problem in _with_problems(tuple(calls), problem_of, map_):
            if problem is not None:
                aside = asides.get(call.queue, SetAside(call.queue, 0, problem))
                asides[call.queue] = replace(aside, number=aside.number + len(call.messages))
    return tuple(asides.values())


def _with_problems(
    calls: Sequence[SendCall],
    problem_of: Callable[[SendCall], str | None],
    map_: Callable[..., Iterable[str | None]],
) -> Iterable[tuple[SendCall, str | None]]:
    """Yield each call with what stopped it; a single call needs no other thread."""
    return zip(calls, map(problem_of, calls) if len(calls) == 1 else map_(problem_of, calls), strict=True)


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
        if sleep is not None and call.at is not None:
            sleep.until(call.at)
        _send_call(call, queues, clock, start)


def _calls_of(
    messages: Sequence[DueMessage], routes: Routes, clock: Clock, start: Start, sleep: PhaseSleep | None
) -> Iterable[SendCall]:
    by_queue: dict[str, list[DueMessage]] = defaultdict(list)
    for message in messages:
        queue = routes.queue_of(message.type, is_high=message.is_high)
        by_queue[queue or DEFAULT_WORKER].append(message)
    if sleep is None or start == "second":
        return [call for queue, mine in by_queue.items() for call in calls_at_once(queue, mine)]
    return calls_in_phase(by_queue, clock.now(), sleep)


def _send_call(call: SendCall, queues: DueQueues, clock: Clock, start: Start) -> None:
    """Send the messages of one call with their delays from now."""
    now = clock.now()
    queues.send(
        [Send(call.queue, message, delay_until(message.due_at, now, start)) for message in call.messages]
    )
