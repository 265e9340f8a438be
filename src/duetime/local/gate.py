"""The gate: every call of an AWS API passes it, one at a time, on its way into moto.

moto's services are plain Python objects. A conditional update there is a read, a comparison and a write, in that
order: two threads inside at once could both find a row pending and both claim it, which DynamoDB itself never allows.
So one lock stands before all of moto. It is held for one call only, so nothing that waits may pass: a long poll is made
a short one. Who listens learns of each call after it was made, and need not poll to see a change.
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
    """A call of an AWS API, as far as the local cloud looks at it."""

    target: str
    """``AmazonSQS.SendMessage``; empty for the services that name the operation in the path."""
    method: str
    path: str
    """With the query, if there is one."""
    body: bytes


Listener = Callable[[AwsCall], None]

_LONG_POLL = re.compile(rb'("WaitTimeSeconds"\s*:)\s*\d+')
RECEIVE = "AmazonSQS.ReceiveMessage"


class Gate:
    """Lets one call at a time into moto, and tells the listeners of it."""

    def __init__(self) -> None:
        self._inside = PriorityLock()
        self._listeners: list[Listener] = []

    def listen(self, listener: Listener) -> None:
        """Have `listener` told of each call once it was made, in the thread that made it; it must be quick."""
        self._listeners.append(listener)

    def held(self) -> AbstractContextManager[object]:
        """Look at moto's own objects inside: no call changes them meanwhile."""
        return self._inside

    def hurried(self) -> AbstractContextManager[object]:
        """What is called within the block is due now: it goes before most of what is not."""
        return self._inside.hurried()

    def let_in(self, call: AwsCall, make: Callable[[], T]) -> T:
        """Make the call while nobody else does."""
        with self._inside:
            answer = make()
        for listener in self._listeners:
            listener(call)
        return answer


def without_long_poll(target: str, body: bytes) -> bytes:
    """The body of a call that asks SQS to wait for messages, of the same length, not asking for it."""
    if target != RECEIVE:
        return body
    return _LONG_POLL.sub(lambda found: found[1].ljust(len(found[0]) - 1) + b"0", body)
