"""What the steps need of the world, written as a specification: here what wakes them, in `action_ports` the rows.

Each back end (``memory``, ``aws``, or your own) keeps every sentence of these modules, of `job_ports` and the others;
``duetime.testing.contract`` checks them.
Instants are aware UTC. A method that changes a row is one atomic, conditional write: the condition is the rule, and
whoever does not meet it changes nothing. A method may be repeated after a lost answer and then reports what its first
try did. Anything may raise `BackendUnavailable`; the caller's own caller repeats.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from duetime.model.action import ActionRef

if TYPE_CHECKING:
    from duetime.model.lifecycle import LifecycleEvent
    from duetime.model.manifest import WorkerRoute


@dataclass(frozen=True, slots=True, kw_only=True)
class DueMessage:
    """Says that an action may be due: a wake-up, never the truth."""

    ref: ActionRef
    type: str
    due_at: datetime
    generation: int
    payload_version: int = 1
    """The version of its type that wrote the action's payload: a worker that does not read it yet need not claim."""
    is_keyed: bool = False
    """Its action has a concurrency key: a worker looks for a slot before it claims."""
    looks_until: datetime | None = None
    """Of one whose action waits for a slot: after this instant it is replaced no more; the sweep has sent another."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message as it reached a worker."""

    message: DueMessage
    queued_at: datetime
    """When it could first be received."""
    receipt: str
    """Whoever holds it may move this delivery's visibility."""


@dataclass(frozen=True, slots=True)
class Send:
    """A message to send to a worker's queue, to be received no sooner than `delay` whole seconds from now."""

    queue: str
    message: DueMessage
    delay: int


FAILURES = "failures"
"""The queue of what functions and EventBridge gave up, and of requests to redrive, without the prefix."""

NOTIFICATIONS = "notifications"
"""The queue between the event bus and the notifications, without the prefix."""

LONGEST_DELAY = 900
"""Seconds: the longest that SQS delays a message."""


class DueQueues(Protocol):
    """The workers' queues: at least once, in no order, each message after its delay."""

    def send(self, sends: Sequence[Send]) -> None:
        """Send all; a `delay` is 0 to 900 s.

        Raises:
            BackendUnavailable: some may not have been sent; sending all again is safe, since a claim decides.
        """
        ...

    def extend(self, queue: str, receipt: str, seconds: int) -> None:
        """Keep a received message invisible for `seconds` from now; nothing happens if it is gone."""
        ...


class Timers(Protocol):
    """What wakes a far action: one timer for each `generation` of it."""

    def set(self, message: DueMessage, wake_at: datetime) -> None:
        """Wake the dispatcher with `message` at `wake_at` (its whole second) or up to a minute later, at least once.

        Setting it again is safe.

        Raises:
            BackendUnavailable: it may not be set.
        """
        ...

    def clear(self, message: DueMessage) -> None:
        """Forget the timer of this `generation`; nothing happens if there is none, and a wake already under way still comes."""
        ...


class Routes(Protocol):
    """Which worker runs which type, as the latest deploys published it."""

    def queue_for(self, type_name: str) -> str | None:
        """The worker's queue, or None when no published manifest has the type. May lag by a minute for known types."""
        ...

    def version_of(self, type_name: str) -> int | None:
        """The newest payload version of the type that a worker reads; None when no published manifest has the type.

        May lag by seconds.
        """
        ...

    def types(self) -> Sequence[str]:
        """Every type that has a worker, in order. May lag by a minute."""
        ...

    def told_route(self, type_name: str) -> WorkerRoute | None:
        """The route of a type that has its payload told in lifecycle events; None of all others. May lag by a minute."""
        ...


class EventBus(Protocol):
    """Where others hear of what happened."""

    def put(self, events: Sequence[LifecycleEvent]) -> None:
        """Publish all of them, in no order; each may come more than once.

        Raises:
            BackendUnavailable: some may not have been published; publishing all again is safe, since their ids stay.
        """
        ...


class Bookmarks(Protocol):
    """Where a repeated pass left off."""

    def read(self, name: str) -> Mapping[str, str]:
        """What was last written under `name`; empty at first."""
        ...

    def write(self, name: str, marks: Mapping[str, str]) -> None:
        """Replace what stands under `name`."""
        ...
