"""When to send due messages, so that their delays end at the due times.

SQS delays by whole seconds. If a message is sent while its due time is 7.6 seconds away, it arrives after 7,
and its worker waits for 0.6 seconds, with all its memory. A small function can wait instead, once for many
messages. It sends each of them *in phase*: at the due time's fraction of a second.

One invocation sleeps only within a second from its first sleep. Each fraction comes once in that time, so all
messages can be in phase. A message that is due soon never waits for the phase of another.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from duetime import instant
from duetime.clock import Clock
from duetime.ports.wakeups import LONGEST_DELAY, DueMessage

GROUP = 10
"""The most messages in one call of SQS."""

_SECOND = timedelta(seconds=1)
_SOON = timedelta(seconds=5)
"""What is due within this time is sent at once: no sleep or slow call may delay it past its due time."""

_BUCKET = 100_000
"""Microseconds: messages whose fractions are in the same tenth of a second share calls."""

_AHEAD, _OF_A_CALL = timedelta(milliseconds=50), timedelta(milliseconds=20)
"""How long before the phase the last call begins, and the time for each call before it.

A message that is sent just after its phase arrives most of a second before its due time.
"""


class PhaseSleep:
    """The sleep of one invocation. Several threads may share it.

    Args:
        clock: the clock that sleeps.
        stop_at: when the invocation must not sleep any more.
        fewest: the fewest messages that are worth a sleep.
    """

    def __init__(self, clock: Clock, stop_at: datetime = instant.LATEST, *, fewest: int = 1) -> None:
        self._clock, self._stop_at, self.fewest = clock, stop_at, fewest
        self._ends_at: datetime | None = None

    def until(self, at: datetime) -> None:
        """Sleep until `at`; not at all if it lies more than a second after the first sleep began."""
        if self._ends_at is None:
            self._ends_at = min(self._clock.now() + _SECOND, self._stop_at)
        if at <= self._ends_at:
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


def calls_in_phase(by_queue: dict[str, list[DueMessage]], now: datetime, fewest: int) -> list[SendCall]:
    """Return the calls in their order: first what is due soon, then the others by their phases.

    With fewer than `fewest` others, all calls begin at once.
    """
    if sum(_has_phase(message, now) for messages in by_queue.values() for message in messages) < fewest:
        return [call for queue, messages in by_queue.items() for call in calls_at_once(queue, messages)]
    calls = [
        call
        for queue, messages in by_queue.items()
        for call in calls_at_once(queue, [message for message in messages if not _has_phase(message, now)])
    ]
    buckets: dict[int, list[tuple[str, DueMessage]]] = defaultdict(list)
    for queue, messages in by_queue.items():
        for message in messages:
            if _has_phase(message, now):
                buckets[message.due_at.microsecond // _BUCKET].append((queue, message))
    return calls + sorted(
        (call for bucket in buckets.values() for call in _calls_of_bucket(bucket, now)),
        key=lambda call: call.at or now,
    )


def _has_phase(message: DueMessage, now: datetime) -> bool:
    """Return whether a sleep is of use; a hop of the longest delay does not end at the due time."""
    return _SOON <= message.due_at - now <= timedelta(seconds=LONGEST_DELAY)


def _calls_of_bucket(bucket: Sequence[tuple[str, DueMessage]], now: datetime) -> Iterator[SendCall]:
    by_queue: dict[str, list[DueMessage]] = defaultdict(list)
    for queue, message in bucket:
        by_queue[queue].append(message)
    calls = [call for queue, messages in by_queue.items() for call in calls_at_once(queue, messages)]
    earliest = min((message for _, message in bucket), key=lambda message: message.due_at.microsecond)
    lead = _AHEAD + _OF_A_CALL * (len(calls) - 1)
    begins = now + (earliest.due_at - lead - now) % _SECOND
    for call in calls:
        yield SendCall(call.queue, call.messages, begins)
