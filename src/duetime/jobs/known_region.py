"""The active region as a process knows it: read at most every five seconds, and trusted for fifteen.

A process claims, and renews leases, only while its reading is younger than `TRUSTED`. A failover waits until
such readings and the leases that they allowed have ended. So a region that cannot read the item stops by
itself.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from duetime.clock import Clock
from duetime.errors import BackendUnavailable, DuetimeError, StandbyRegion, truncate
from duetime.model.active_region import TRUSTED, ActiveRegion, epoch_of
from duetime.ports.regions import ActiveRegions

log = logging.getLogger(__name__)

REREAD_AFTER = timedelta(seconds=5)
"""A read costs one read unit."""


class KnownRegion:
    """A cache of the item. Safe to call from several threads. Without a standby region it reads nothing."""

    def __init__(self, regions: ActiveRegions, clock: Clock) -> None:
        self._regions, self._clock = regions, clock
        self._reading: tuple[float, datetime, ActiveRegion | None] | None = None
        self._tried_at: float | None = None

    @property
    def own(self) -> str:
        """The region of this process; empty without a standby region."""
        return self._regions.own

    def epoch(self) -> int | None:
        """Return the epoch at which this region may claim; None while it stands by.

        Without a standby region it is 0.

        Raises:
            BackendUnavailable: the last reading is too old, and the item cannot be read.
        """
        if not self.own:
            return 0
        self._reread()
        if self._reading is None or self._age() >= TRUSTED:
            raise BackendUnavailable("the regions table", f"{self.own} cannot read which region is active")
        active = self._reading[2]
        return active.epoch if active is not None and active.region == self.own else None

    def is_standby(self) -> bool:
        """Return whether another region, or none, is active; False while that cannot be read."""
        try:
            return self.epoch() is None
        except DuetimeError:
            return False

    def is_active(self) -> bool:
        """Return whether this region is active; False while that cannot be read."""
        try:
            return self.epoch() is not None
        except DuetimeError:
            return False

    def require_active(self) -> None:
        """Check that this region is active, for a write that no claim of it precedes.

        Raises:
            StandbyRegion: another region is active, or none during a failover.
            BackendUnavailable: as `epoch`.
        """
        if self.epoch() is None:
            active = None if self._reading is None else self._reading[2]
            raise StandbyRegion(self.own, active.region if active else "")

    def is_current(self, fence: int) -> bool:
        """Return whether a run under this fence may renew its lease and settle: its epoch has not ended.

        Raises:
            BackendUnavailable: as `epoch`.
        """
        return not self.own or self.epoch() == epoch_of(fence)

    def _age(self) -> timedelta:
        """Return the age of the reading; a frozen process has only one of its two clocks running."""
        if self._reading is None:
            return timedelta.max
        elapsed, at, _ = self._reading
        return max(timedelta(seconds=self._clock.elapsed() - elapsed), self._clock.now() - at)

    def _reread(self) -> None:
        now = self._clock.elapsed()
        if self._tried_at is not None and now - self._tried_at < REREAD_AFTER.total_seconds():
            return
        self._tried_at, at = now, self._clock.now()
        try:
            self._reading = (now, at, self._regions.read())
        except DuetimeError as error:
            log.warning("active region not read", extra={"region": self.own, "reason": truncate(error)})
