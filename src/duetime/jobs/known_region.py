"""The active region as a process knows it.

A process claims, and renews leases, only while it knows the region. A failover waits until such readings and
the leases that they allowed have ended. So a region that cannot read the item stops by itself.
"""

from __future__ import annotations

from duetime.clock import Clock
from duetime.errors import DuetimeError, StandbyRegion
from duetime.jobs.trusted_reading import TrustedReading
from duetime.model.active_region import epoch_of
from duetime.ports.regions import ActiveRegions


class KnownRegion:
    """A cache of the item. Safe to call from several threads. Without a standby region it reads nothing."""

    def __init__(self, regions: ActiveRegions, clock: Clock) -> None:
        self._regions = regions
        self._known = TrustedReading("which region is active", regions.read, clock)

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
        active = self._known.get()
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
            active = self._known.get()
            raise StandbyRegion(self.own, active.region if active else "")

    def is_current(self, fence: int) -> bool:
        """Return whether a run under this fence may renew its lease and settle: its epoch has not ended.

        Raises:
            BackendUnavailable: as `epoch`.
        """
        return not self.own or self.epoch() == epoch_of(fence)
