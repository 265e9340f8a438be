"""The types that workers host, cached: a caller's early check of what it schedules."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from duetime.clock import Clock
from duetime.declare.job_rules import RESERVED
from duetime.errors import DuetimeError, TypeNotHosted

REREAD_AFTER = timedelta(minutes=10)
REREAD_UNKNOWN_AFTER = timedelta(seconds=5)
"""The age up to which the types are used: to accept a type, and to reject one, since a deploy may add it."""


class HostedTypes:
    """Checks types against the workers' manifests.

    If they cannot be read, or no app is deployed, every type passes, and the next attempt is ten minutes
    later. Types of duetime's own always pass.

    Args:
        read: returns the hosted types; it may raise `DuetimeError`.
        clock: the source of the present time.
    """

    def __init__(self, read: Callable[[], Iterable[str]], clock: Clock) -> None:
        self._read, self._clock = read, clock
        self._types: frozenset[str] = frozenset()
        self._read_at: datetime | None = None

    def check(self, type_name: str) -> None:
        """Check that a worker hosts the type.

        Raises:
            TypeNotHosted: none does.
        """
        if type_name.startswith(RESERVED):
            return
        self._refresh(REREAD_AFTER)
        if self._types and type_name not in self._types:
            self._refresh(REREAD_UNKNOWN_AFTER)
        if self._types and type_name not in self._types:
            raise TypeNotHosted(type_name, self._types)

    def _refresh(self, oldest: timedelta) -> None:
        now = self._clock.now()
        if self._read_at is not None and now - self._read_at < oldest:
            return
        self._read_at = now
        try:
            types = frozenset(name for name in self._read() if not name.startswith(RESERVED))
        except DuetimeError:
            types = frozenset()
        self._types = types
