"""The inputs of the undelivered handler, from the failure queue. Values only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from duetime.ports.actions import DamagedItem, DamagedRow
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
    """When it was sent: a dead letter to its own queue, another input to the failure queue."""
    number: str
    """The number of the message; it identifies repeats of inputs that have no id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadMessage(UndeliveredInput):
    """A due message that no worker took."""

    message: DueMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class DamagedInput(UndeliveredInput):
    """A row or another item that the step `source` cannot read."""

    damaged: DamagedRow | DamagedItem


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadNotification(UndeliveredInput):
    """A message of the notifications' queue that could not be handled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable(UndeliveredInput):
    """A message of another origin; a redrive puts its body back to the queue `source`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedBatch(UndeliveredInput):
    """Records of a stream on which the step `source`, arm or publish, failed."""

    batch: StreamBatch


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedInput(UndeliveredInput):
    """A wake or an event that did not reach dispatch, or on which dispatch failed."""

    content: Mapping[str, Any]
    """The input of dispatch."""
    message: DueMessage | None = None
    """The same input as a message, for the timer of an action."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedPass(UndeliveredInput):
    """A sweep or a catch-up that failed or was not called, or work that a step left waiting."""


@dataclass(frozen=True, slots=True)
class RedriveMessage:
    """A request to redrive."""

    undelivered_id: str
