"""The undelivered: what a queue, a stream or EventBridge gave up on, as it is kept. Facts only.

What becomes of it is told in `salvage`. An id names the thing itself, and not the message that told of it, wherever the
thing has a name: what is given up twice is kept once, and counted.
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
"""Bytes of a body that are kept: more than any event of 256 KB, and with all else within a DynamoDB item of 400 KB."""

_ID = re.compile(r"u\.\d{8}T\d{6}Z\.[0-9a-f]{16}", re.ASCII)
_ASKED = "redrive"


class UndeliveredKind(StrEnum):
    """What was given up."""

    MESSAGE = "message"
    """A message of a worker's queue, or one of the failure queue that nobody could read."""
    RECORD = "record"
    """A record of the actions table's stream, or a batch of them that is no longer there."""
    WAKE = "wake"
    """What a timer or a job's schedule told dispatch."""
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
    """One thing that was given up."""

    id: UndeliveredId
    kind: UndeliveredKind
    source: str
    """Who gave it up: a queue's or a function's name, without the prefix: ``due-default``, ``dispatch``."""
    reason: str
    """Why, as far as it is known; of what was redriven in vain, why that failed."""
    body: str
    is_cut: bool = False
    """Whether the body is only its beginning: then it cannot be done again."""
    first_at: datetime
    last_at: datetime
    """When it was kept for the first time, and for the last."""
    count: int = 1
    """How often it was kept: given up, or redriven in vain. A delivery that comes twice may count twice."""
    action: ActionRef | None = None
    """Whose it is, where that is known."""


def undelivered_id(at: datetime, *parts: str) -> UndeliveredId:
    """The id of the thing that `parts` name; `at` is its own time, to the second, by which ids sort."""
    digest = sha256("\n".join(parts).encode(errors="replace")).hexdigest()[:16]
    sorted_by = max(instant.EARLIEST, min(at, instant.LATEST))
    return UndeliveredId(f"u.{sorted_by.astimezone(UTC):%Y%m%dT%H%M%SZ}.{digest}")


def is_undelivered_id(text: object) -> bool:
    """Whether `text` could name something undelivered; what could not is simply not found."""
    return isinstance(text, str) and _ID.fullmatch(text) is not None


def bounded(body: str) -> tuple[str, bool]:
    """A text as far as it is kept, and whether that is not all of it; what UTF-8 cannot say becomes a question mark."""
    written = body.encode(errors="replace")
    if len(written) <= BODY_LIMIT:
        return written.decode(), False
    return written[:BODY_LIMIT].decode(errors="ignore"), True


def request_for(undelivered_id: str) -> str:
    """The message by which somebody asks for a redrive."""
    return json.dumps({_ASKED: undelivered_id})


def requested_in(told: Mapping[str, Any]) -> str | None:
    """The id that such a message names; None for any other."""
    return told[_ASKED] if told.keys() == {_ASKED} and is_undelivered_id(told[_ASKED]) else None
