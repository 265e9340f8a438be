"""The rate limits that operators set, as a process knows them: read at most every five seconds.

Only a process with a due action of a rated type reads them. If they cannot be read, it uses those that it
read last; a process that has read none uses the declared limits.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime

from duetime.clock import Clock
from duetime.errors import DuetimeError, truncate
from duetime.jobs.known_pauses import REREAD_AFTER
from duetime.model.rate_limit import RateLimit
from duetime.ports.rate_limits import SetLimits

log = logging.getLogger(__name__)


class KnownLimits:
    """A cache of the limits. Safe to call from several threads."""

    def __init__(self, limits: SetLimits, clock: Clock) -> None:
        self._limits, self._clock = limits, clock
        self._known: Mapping[str, RateLimit] = {}
        self._read_at: datetime | None = None

    def of(self, name: str, declared: RateLimit) -> RateLimit:
        """Return the limit in force for a type."""
        now = self._clock.now()
        if self._read_at is None or not self._read_at <= now < self._read_at + REREAD_AFTER:
            self._read(now)
        return self._known.get(name, declared)

    def _read(self, now: datetime) -> None:
        self._read_at = now
        try:
            self._known = {limit.name: limit.limit for limit in self._limits.list()}
        except DuetimeError as error:
            log.warning("limits not read, the last known ones hold", extra={"reason": truncate(error)})
