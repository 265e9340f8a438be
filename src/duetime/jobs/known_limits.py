"""The rate limits that operators set, as a process knows them. Only one with a rated type reads them."""

from __future__ import annotations

from collections.abc import Mapping

from duetime.clock import Clock
from duetime.jobs.trusted_reading import TrustedReading
from duetime.model.rate_limit import RateLimit
from duetime.ports.rate_limits import SetLimits


class KnownLimits:
    """A cache of the limits. Safe to call from several threads."""

    def __init__(self, limits: SetLimits, clock: Clock) -> None:
        self._limits = limits
        self._known = TrustedReading("the set rate limits", self._read, clock)

    def require(self) -> None:
        """Check that the limits are known.

        Raises:
            BackendUnavailable: they cannot be read.
        """
        self._known.get()

    def of(self, name: str, declared: RateLimit) -> RateLimit:
        """Return the limit in force for a type.

        Raises:
            BackendUnavailable: they cannot be read.
        """
        return self._known.get().get(name, declared)

    def _read(self) -> Mapping[str, RateLimit]:
        return {limit.name: limit.limit for limit in self._limits.list()}
