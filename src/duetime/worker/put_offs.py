"""Remembers the messages that this process sent again, so that copies of them do not multiply."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta
from typing import TypeAlias

from duetime import instant
from duetime.model.action import ActionRef
from duetime.ports.wakeups import DueMessage

_SLACK = timedelta(seconds=1)
_MOST = 1_000

_Chain: TypeAlias = tuple[ActionRef, int]
"""An action and its generation: a new due time begins another chain."""


class PutOffs:
    """When the message of each waiting or paused action comes again, as far as this process has sent it.

    Each delivery of such an action replaces its message. If a message came twice, each copy would be
    replaced, and copies would add up with each delivery. So a process ends the chain of a copy while the
    message that it sent itself is still under way. Safe to call from several threads.
    """

    def __init__(self) -> None:
        self._next: dict[_Chain, tuple[datetime, datetime]] = {}
        self._lock = threading.Lock()

    def is_under_way(
        self, message: DueMessage, until: datetime, now: datetime, *, by: datetime = instant.LATEST
    ) -> bool:
        """Return whether one that this process sent comes later and replaces `message`.

        Of two chains, the one that ends later goes on.

        Args:
            message: the message that came.
            until: when its chain ends.
            now: the present instant.
            by: when the other one must have come, give or take a second.
        """
        with self._lock:
            comes_at, ends_at = self._next.get(_chain_of(message), (now, now))
        return now < comes_at - _SLACK <= by and until <= ends_at

    def sent(self, message: DueMessage, comes_at: datetime, until: datetime, now: datetime) -> None:
        """Remember a message, when it comes, and the end of its chain."""
        with self._lock:
            self._next[_chain_of(message)] = comes_at, until
            if len(self._next) > _MOST:
                self._next = {other: (at, end) for other, (at, end) in self._next.items() if at > now}


def _chain_of(message: DueMessage) -> _Chain:
    return message.ref, message.generation
