"""When to send due messages, so that their delays end at the due times.

SQS delays by whole seconds. If a message is sent while its due time is 7.6 seconds away, it arrives after 7,
and its worker waits for 0.6 seconds, with all its memory. A small function can wait instead, once for many
messages. It sends each of them *in phase*: at the due time's fraction of a second.

Arm sleeps only within a second from its first sleep. Each fraction comes once in that time, so all its
messages can be in phase. The wheel has more messages than one second's phase can send, so it sleeps for
`WHEEL_SLEEPS`, its share of a pass. A message that is due soon never waits for the phase of another.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock

from duetime import instant
from duetime.clock import Clock
from duetime.ports.wakeups import LONGEST_DELAY, DueMessage

GROUP = 10
"""The most messages in one call of SQS."""

_SECOND = timedelta(seconds=1)
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
