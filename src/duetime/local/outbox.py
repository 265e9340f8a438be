"""The outbox: stores the latest events, mails and messages that the local cloud would send."""

from __future__ import annotations

import itertools
import logging
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Generic, TypeVar

from duetime.clock import Clock, SystemClock
from duetime.notifications.deliver import masked

log = logging.getLogger(__name__)

KEPT: Final = 1_000
"""The number of stored items of each kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A sent item.

    Attributes:
        number: the number within its kind, from 1 since the start.
        at: when it was sent.
        type: an event's detail-type, or the kind of notification of a mail or message.
    """

    number: int
    at: datetime
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SentEvent(Sent):
    """A lifecycle event that was put on the bus, which assigned the id."""

    id: str
    detail: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class SentMail(Sent):
    """A mail as it arrives at one address."""

    address: str
    language: str
    subject: str
    text: str
    html: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SentMessage(Sent):
    """A message that was published to the topic."""

    subject: str
    text: str
    attributes: Mapping[str, str]


S = TypeVar("S", bound=Sent)


class OutboxFolder(Generic[S]):
    """The stored items of one kind."""

    def __init__(self, kind: type[S], clock: Clock) -> None:
        self._kind, self._clock = kind, clock
        self._items: deque[S] = deque(maxlen=KEPT)
        self._numbers = itertools.count(1)
        self._turn = threading.Lock()

    def add(self, type: str, **values: Any) -> S:  # noqa: A002 - as the field
        """Store an item and drop the oldest beyond the limit."""
        with self._turn:
            item = self._kind(number=next(self._numbers), at=self._clock.now(), type=type, **values)
            self._items.append(item)
        return item

    def list(self, *, type: str | None = None, limit: int = KEPT) -> Sequence[S]:  # noqa: A002 - as the field
        """Return the latest items, newest first, optionally of one type."""
        with self._turn:
            items = tuple(self._items)
        return [item for item in reversed(items) if type in {None, item.type}][:limit]

    def get(self, number: int) -> S | None:
        """Return the item of that number; None if it is not stored."""
        return next((item for item in self.list() if item.number == number), None)


@dataclass(frozen=True, slots=True)
class Outbox:
    """Stores events, mails and messages, and logs a line for each; events at debug level."""

    events: OutboxFolder[SentEvent] = field(default_factory=lambda: OutboxFolder(SentEvent, SystemClock()))
    mails: OutboxFolder[SentMail] = field(default_factory=lambda: OutboxFolder(SentMail, SystemClock()))
    messages: OutboxFolder[SentMessage] = field(
        default_factory=lambda: OutboxFolder(SentMessage, SystemClock())
    )

    def put_event(self, type: str, **values: Any) -> None:  # noqa: A002 - as the field
        """Store an event with the fields of `SentEvent`."""
        sent = self.events.add(type, **values)
        log.debug("%s of %s", sent.type, sent.detail.get("tenant_id"), extra={"word": "event"})

    def put_mail(self, type: str, **values: Any) -> None:  # noqa: A002 - as the field
        """Store a mail with the fields of `SentMail`."""
        sent = self.mails.add(type, **values)
        log.info("to %s: %s", masked(sent.address), sent.subject, extra={"word": "mail"})

    def put_message(self, type: str, **values: Any) -> None:  # noqa: A002 - as the field
        """Store a message of the topic with the fields of `SentMessage`."""
        sent = self.messages.add(type, **values)
        log.info("to the topic: %s", sent.subject, extra={"word": "message"})
