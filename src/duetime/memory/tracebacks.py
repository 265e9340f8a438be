"""Tracebacks of failed attempts in memory."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import datetime

from duetime.model.action import KEPT_ATTEMPTS, ActionRef
from duetime.model.attempt_traceback import AttemptTraceback

_Entry = tuple[bytes, datetime]


class MemoryTracebacks:
    """The tracebacks, by action and attempt.

    See `duetime.ports.actions.ActionStore`.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_ref: dict[ActionRef, dict[datetime, _Entry]] = {}

    def put_traceback(self, ref: ActionRef, traceback: AttemptTraceback, kept_until: datetime) -> None:
        stored = traceback.to_bytes()
        with self._lock:
            self._by_ref.setdefault(ref, {})[traceback.started_at] = (stored, kept_until)

    def tracebacks(self, ref: ActionRef) -> Sequence[AttemptTraceback]:
        with self._lock:
            stored = sorted(self._by_ref.get(ref, {}).items())[-KEPT_ATTEMPTS:]
        return tuple(AttemptTraceback.from_bytes(at, compressed) for at, (compressed, _) in stored)

    def remove_expired(self, now: datetime) -> None:
        """Remove the expired ones."""
        with self._lock:
            for ref, stored in [*self._by_ref.items()]:
                left = {at: entry for at, entry in stored.items() if entry[1] > now}
                if left:
                    self._by_ref[ref] = left
                else:
                    del self._by_ref[ref]
