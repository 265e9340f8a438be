"""The outbox: what the local cloud sends, kept instead of sent. Of each kind the latest are kept, numbered from 1."""

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
"""Of each kind, how many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """Something that was sent."""

    number: int
    """Of its kind, counted since the cloud was started."""
    at: datetime
    type: str
    """An event's detail-type; of a mail or a message, which notification it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SentEvent(Sent):
    """A lifecycle event that was put on the bus."""

    id: str
    """As the bus told it."""
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
    """All that is kept of one kind."""

    def __init__(self, kind: type[S], clock: Clock) -> None:
        self._kind, self._clock = kind, clock
        self._kept: deque[S] = deque(maxlen=KEPT)
        self._numbers = itertools.count(1)
        self._turn = threading.Lock()

    def add(self, type: str, **told: Any) -> S:  # noqa: A002 - as the field
        """Keep one; what is too old goes."""
        with self._turn:
            made = self._kind(number=next(self._numbers), at=self._clock.now(), type=type, **told)
            self._kept.append(made)
        return made

    def list(self, *, type: str | None = None, limit: int = KEPT) -> Sequence[S]:  # noqa: A002 - as the field
        """The latest, newest first; with `type` only those of it."""
        with self._turn:
            kept = tuple(self._kept)
        found = (each for each in reversed(kept) if type in {None, each.type})
        return [*itertools.islice(found, limit)]

    def get(self, number: int) -> S | None:
        """The one of that number; None if it is not kept."""
        return next((each for each in self.list() if each.number == number), None)


@dataclass(frozen=True, slots=True)
class Outbox:
    """Events, mails and messages, each with a line in the terminal; events only where everything is told."""

    events: OutboxFolder[SentEvent] = field(default_factory=lambda: OutboxFolder(SentEvent, SystemClock()))
    mails: OutboxFolder[SentMail] = field(default_factory=lambda: OutboxFolder(SentMail, SystemClock()))
    messages: OutboxFolder[SentMessage] = field(
        default_factory=lambda: OutboxFolder(SentMessage, SystemClock())
    )

    def put_event(self, type: str, **told: Any) -> None:  # noqa: A002 - as the field
        """Keep an event: the fields of `SentEvent`."""
        sent = self.events.add(type, **told)
        log.debug("%s of %s", sent.type, sent.detail.get("tenant_id"), extra={"word": "event"})

    def put_mail(self, type: str, **told: Any) -> None:  # noqa: A002 - as the field
        """Keep a mail: the fields of `SentMail`."""
        sent = self.mails.add(type, **told)
        log.info("to %s: %s", masked(sent.address), sent.subject, extra={"word": "mail"})

    def put_message(self, type: str, **told: Any) -> None:  # noqa: A002 - as the field
        """Keep a message of the topic: the fields of `SentMessage`."""
        sent = self.messages.add(type, **told)
        log.info("to the topic: %s", sent.subject, extra={"word": "message"})
