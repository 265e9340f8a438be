"""What a dead-letter queue or the failure queue hands to the undelivered handler. Values only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from duetime.ports.undelivered import StreamBatch
from duetime.ports.wakeups import DueMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class UndeliveredInput:
    """An input that was given up, and its source."""

    source: str
    """A queue's or a function's name, without the prefix."""
    reason: str
    body: str
    at: datetime
    """When it was sent to where salvage found it."""
    number: str
    """The message's, by which its doubles are known where the thing itself has no name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadMessage(UndeliveredInput):
    """A due message that no worker took."""

    message: DueMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadNotification(UndeliveredInput):
    """A message of the notifications' queue that could not be handled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable(UndeliveredInput):
    """A message that duetime did not write; the source is the queue that its body may be put back to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedBatch(UndeliveredInput):
    """Records of a stream that arm, or publish, did not take; the source says who."""

    batch: StreamBatch


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedInput(UndeliveredInput):
    """A wake or an event that did not reach dispatch, or that it failed at."""

    content: Mapping[str, Any]
    """The input of dispatch."""
    message: DueMessage | None = None
    """The same of an action's timer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedPass(UndeliveredInput):
    """A sweep or a catch-up that failed, or was not called."""


@dataclass(frozen=True, slots=True)
class RedriveMessage:
    """A request to redrive."""

    undelivered_id: str
