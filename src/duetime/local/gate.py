"""The gate: admits one call of an AWS API at a time to moto.

moto's services are plain Python objects. A conditional update there is a read, a comparison and a write.
Two threads could both find a row pending and both claim it, which DynamoDB never allows. Therefore one lock
guards all of moto. It is held for one call only, so a long poll is made a short one. Listeners receive each
call after it was made.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TypeVar

from duetime.local.priority_lock import PriorityLock

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class AwsCall:
    """The parts of an AWS API call that the local cloud reads."""

    target: str
    """``AmazonSQS.SendMessage``; empty for services that name the operation in the path."""
    method: str
    path: str
    """With the query, if there is one."""
    body: bytes


Listener = Callable[[AwsCall], None]

_LONG_POLL = re.compile(rb'("WaitTimeSeconds"\s*:)\s*\d+')
RECEIVE = "AmazonSQS.ReceiveMessage"


class Gate:
    """Admits one call at a time to moto, and notifies the listeners."""

    def __init__(self) -> None:
        self._inside = PriorityLock()
        self._listeners: list[Listener] = []

    def listen(self, listener: Listener) -> None:
        """Call `listener` after each call, in the thread of the caller; it must be quick."""
        self._listeners.append(listener)

    def held(self) -> AbstractContextManager[object]:
        """Block all calls within the block, to read moto's own objects."""
        return self._inside

    def hurried(self) -> AbstractContextManager[object]:
        """Prefer the calls of this thread within the block."""
        return self._inside.hurried()

    def let_in(self, call: AwsCall, make: Callable[[], T]) -> T:
        """Make a call while no other thread does."""
        with self._inside:
            answer = make()
        for listener in self._listeners:
            listener(call)
        return answer


def without_long_poll(target: str, body: bytes) -> bytes:
    """Return the body of a call without SQS' long poll, at the same length."""
    if target != RECEIVE:
        return body
    return _LONG_POLL.sub(lambda found: found[1].ljust(len(found[0]) - 1) + b"0", body)
