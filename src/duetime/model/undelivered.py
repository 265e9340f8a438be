"""Undelivered inputs of queues, streams and EventBridge, as stored. Facts only.

`duetime.undelivered` handles them. If an input has a name, its id names the input, not the message about it.
A second failure of the same input is thus counted, and not stored twice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from hashlib import sha256
from typing import Any, NewType

from duetime import instant
from duetime.model.action import ActionRef

UndeliveredId = NewType("UndeliveredId", str)

BODY_LIMIT = 350_000
"""Bytes of a body that are stored.

More than any event of 256 KB, and with all else within a DynamoDB item of 400 KB.
"""

_ID = re.compile(r"u\.\d{8}T\d{6}Z\.[0-9a-f]{16}", re.ASCII)
_REQUEST = "redrive"


class UndeliveredKind(StrEnum):
    """The kind of an undelivered input."""

    MESSAGE = "message"
    """A message of a worker's queue, or an unreadable one of the failure queue."""
    RECORD = "record"
    """A record of the actions table's stream, or a batch of them that the stream no longer has."""
    WAKE = "wake"
    """The wake that a timer or a job's schedule sent to dispatch."""
    EVENT = "event"
    """An event that starts a job's run."""
    PASS = "pass"  # noqa: S105 - no password
    """A sweep or a catch-up; the next one does its work."""
    LIFECYCLE = "lifecycle"
    """A lifecycle event that the bus did not take."""
    NOTIFICATION = "notification"
    """A message of the notifications' queue that could not be handled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Undelivered:
    """One undelivered input."""

    id: UndeliveredId
    """``u.``, its own time, and a hash."""
    kind: UndeliveredKind
    """What was given up."""
    source: str
    """The sender: a queue's or a function's name, without the prefix: ``due-default``, ``dispatch``."""
    reason: str
    """The reason, if known; after a failed redrive, the reason of that failure."""
    body: str
    is_cut: bool = False
    """Whether the body is truncated, and cannot be redriven."""
    first_at: datetime
    """When it was stored for the first time."""
    last_at: datetime
    """When it was stored last."""
    count: int = 1
    """How often it was undelivered, or redriven without success. A duplicate delivery may count twice."""
    action: ActionRef | None = None
    """Its action, if known."""


def undelivered_id(at: datetime, *parts: str) -> UndeliveredId:
    """Return the id of the input that `parts` name; ids sort by `at`, to the second."""
    digest = sha256("\n".join(parts).encode(errors="replace")).hexdigest()[:16]
    sorted_by = max(instant.EARLIEST, min(at, instant.LATEST))
    return UndeliveredId(f"u.{sorted_by.astimezone(UTC):%Y%m%dT%H%M%SZ}.{digest}")


def is_undelivered_id(text: object) -> bool:
    """Return whether `text` has the form of an id."""
    return isinstance(text, str) and _ID.fullmatch(text) is not None


def bounded(body: str) -> tuple[str, bool]:
    """Return the stored part of a text, and whether it is truncated; invalid UTF-8 becomes question marks."""
    written = body.encode(errors="replace")
    if len(written) <= BODY_LIMIT:
        return written.decode(), False
    return written[:BODY_LIMIT].decode(errors="ignore"), True


def request_for(undelivered_id: str) -> str:
    """Return the message that requests a redrive."""
    return json.dumps({_REQUEST: undelivered_id})


def requested_in(message: Mapping[str, Any]) -> str | None:
    """Return the id in a request for a redrive; None for any other message."""
    is_request = message.keys() == {_REQUEST} and is_undelivered_id(message[_REQUEST])
    return message[_REQUEST] if is_request else None
