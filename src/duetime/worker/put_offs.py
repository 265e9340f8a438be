"""Remembers the messages that this process sent for waiting actions, so that duplicates do not multiply."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta

from duetime.model.action import ActionRef

_SLACK = timedelta(seconds=1)
_MOST = 1_000


class PutOffs:
    """The next claim of each action that waits, as far as this process has sent its message.

    Each claim of a waiting action replaces its message. If a message came twice, each copy would be replaced,
    and copies would add up with each claim. So a process ends the chain of a copy while the message that it
    sent itself is still under way. Safe to call from several threads.
    """

    def __init__(self) -> None:
        self._next: dict[ActionRef, datetime] = {}
        self._lock = threading.Lock()

    def is_under_way(self, ref: ActionRef, now: datetime) -> bool:
        """Return whether a message that this process sent will claim the action later."""
        with self._lock:
            claims_at = self._next.get(ref)
        return claims_at is not None and now + _SLACK < claims_at

    def sent(self, ref: ActionRef, claims_at: datetime, now: datetime) -> None:
        """Remember a message and the time of its claim."""
        with self._lock:
            self._next[ref] = claims_at
            if len(self._next) > _MOST:
                self._next = {other: at for other, at in self._next.items() if at > now}
