"""Make due messages, and send them with exact delays."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import groupby
from operator import attrgetter
from threading import Lock

from duetime import instant
from duetime._english import counted
from duetime.clock import Clock
from duetime.errors import BackendMisconfigured, QueueMissing
from duetime.ids import DEFAULT_WORKER
from duetime.model.action import Action
from duetime.ports.wakeups import LONGEST_DELAY, DueMessage, DueQueues, Routes, Send
from duetime.settings import Start

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
        is_keyed=action.concurrency is not None,
        is_high=action.is_high,
    )


def delay_until(due_at: datetime, now: datetime, start: Start = "instant") -> int:
    """Return the delay of a message in whole seconds, 0 to 900.

    With the start `instant` it is rounded down, and the worker waits for the fraction; with `second` up.
    """
    left = due_at - now
    return max(0, min(LONGEST_DELAY, -(-left // _SECOND) if start == "second" else left // _SECOND))


GROUP = 10
"""The most messages in one call of SQS."""

_SOON = timedelta(seconds=5)
"""What is due within this time, or the longest sleep, is sent at once: no sleep delays it too long."""

_BUCKET = 100_000
"""Microseconds: messages whose fractions are in the same tenth of a second share calls."""

_AHEAD, _OF_A_CALL = timedelta(milliseconds=30), timedelta(milliseconds=20)
"""How long before the phase the last call begins, and the time for each call before it.

A message that is sent just after its phase arrives most of a second before its due time.
"""

_CPU_OF_A_CALL = timedelta(milliseconds=5)
"""The same for a call beside it: its CPU time at 256 MB (`bench.memory`)."""

CALLS_OF_A_PHASE = 45
"""The most calls that threads make in one second's phase: their CPU time at 512 MB is 0.1 s."""

CALLS_IN_TURN = 5
"""The calls that a thread of the wheel makes in one phase: more would have to begin earlier."""

WHEEL_SLEEPS = timedelta(seconds=16)
"""The time in which a turn of the wheel may sleep: for as many times `CALLS_OF_A_PHASE` calls."""


class PhaseSleep:
    """The sleeps of one invocation. Several threads may share it.

    SQS delays by whole seconds. If a message is sent while its due time is 7.6 seconds away, it arrives after
    7, and its worker waits for 0.6 seconds, with all its memory. A small function can wait instead, once for
    many messages. It sends each of them *in phase*: at the due time's fraction of a second.

    Arm sleeps only within a second from its first sleep. Each fraction comes once in that time, so all its
    messages can be in phase. The wheel has more messages than one second's phase can send, so it sleeps for
    `WHEEL_SLEEPS`, its share of a pass. A message that is due soon never waits for the phase of another.

    Args:
        clock: the clock that sleeps.
        stop_at: when the invocation must not sleep any more.
        fewest: the fewest messages that are worth a sleep.
        longest: how long after the first phase was looked for the last sleep ends.
        at_once: the calls of one phase that are made side by side.
        in_turn: the most calls of one queue's messages in one phase.
    """

    def __init__(
        self,
        clock: Clock,
        stop_at: datetime = instant.LATEST,
        *,
        fewest: int = 1,
        longest: timedelta = _SECOND,
        at_once: int = 1,
        in_turn: int = CALLS_OF_A_PHASE,
    ) -> None:
        self._clock, self._stop_at, self.fewest, self._longest = clock, stop_at, fewest, longest
        self._at_once, self.in_turn = at_once, in_turn
        self.soon = max(_SOON, longest)
        self._ends_at: datetime | None = None
        self._lock, self._calls = Lock(), Counter[datetime]()

    def reserve(self, at: datetime, calls: int) -> datetime | None:
        """Return when to begin so many calls: at `at`, or whole seconds later if others call then.

        Return None, without a sleep, if that lies too late.
        """
        with self._lock:
            if self._ends_at is None:
                self._ends_at = min(self._clock.now() + self._longest, self._stop_at)
            while at <= self._ends_at:
                second = at.replace(microsecond=0)
                if not self._calls[second] or self._calls[second] + calls <= CALLS_OF_A_PHASE:
                    self._calls[second] += calls
                    return at
                at += _SECOND
        return None

    def lead(self, calls: int) -> timedelta:
        """Return how long before the phase to begin so many calls."""
        beside = min(calls, self._at_once) - 1
        return _AHEAD + _OF_A_CALL * ((calls - 1) // self._at_once) + _CPU_OF_A_CALL * beside

    def until(self, at: datetime) -> None:
        """Sleep until a reserved instant."""
        self._clock.wait_until(at)


@dataclass(frozen=True, slots=True)
class SendCall:
    """Messages of one queue for one call of SQS.

    `at` is when the call should begin; None: at once.
    """

    queue: str
    messages: Sequence[DueMessage]
    at: datetime | None = None


def calls_at_once(queue: str, messages: Sequence[DueMessage]) -> Iterator[SendCall]:
    """Yield the calls that send the messages in their order."""
    for first in range(0, len(messages), GROUP):
        yield SendCall(queue, messages[first : first + GROUP])


def calls_in_phase(by_queue: dict[str, list[DueMessage]], now: datetime, sleep: PhaseSleep) -> list[SendCall]:
    """Return the calls in their order: first what is due soon, then the others by their phases.

    With fewer others than are worth a sleep, all calls begin at once.
    """
    in_phase = sum(_has_phase(message, now, sleep) for messages in by_queue.values() for message in messages)
    if in_phase < sleep.fewest:
        return [call for queue, messages in by_queue.items() for call in calls_at_once(queue, messages)]
    calls = [
        call
        for queue, messages in by_queue.items()
        for call in calls_at_once(
            queue, [message for message in messages if not _has_phase(message, now, sleep)]
        )
    ]
    buckets: dict[int, list[tuple[str, DueMessage]]] = defaultdict(list)
    for queue, messages in by_queue.items():
        for message in messages:
            if _has_phase(message, now, sleep):
                buckets[message.due_at.microsecond // _BUCKET].append((queue, message))
    return calls + sorted(
        (call for bucket in buckets.values() for call in _calls_of_bucket(bucket, now, sleep)),
        key=lambda call: call.at or now,
    )


def _has_phase(message: DueMessage, now: datetime, sleep: PhaseSleep) -> bool:
    """Return whether a sleep is of use; a hop of the longest delay does not end at the due time."""
    return sleep.soon <= message.due_at - now <= timedelta(seconds=LONGEST_DELAY)


def _calls_of_bucket(
    bucket: Sequence[tuple[str, DueMessage]], now: datetime, sleep: PhaseSleep
) -> Iterator[SendCall]:
    by_queue: dict[str, list[DueMessage]] = defaultdict(list)
    for queue, message in bucket:
        by_queue[queue].append(message)
    calls = [call for queue, messages in by_queue.items() for call in calls_at_once(queue, messages)]
    earliest = min((message for _, message in bucket), key=lambda message: message.due_at.microsecond)
    for first in range(0, len(calls), sleep.in_turn):
        group = calls[first : first + sleep.in_turn]
        at = now + (earliest.due_at - sleep.lead(len(group)) - now) % _SECOND
        begins = sleep.reserve(at + _SECOND * (first // sleep.in_turn), len(group))
        for call in group:
            yield SendCall(call.queue, call.messages, begins)


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
