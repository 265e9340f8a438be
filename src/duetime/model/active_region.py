"""The active region of a deployment with a standby region: one item for both, and its epoch. Facts only.

The epoch counts failovers. It is the upper part of each fence: a claim raises the fence of a row to the first
one of its epoch, and takes no row with a fence of a later epoch.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Self

FENCES = 1_000_000
"""The fences of one epoch. A row is not claimed as often within one."""

TRUSTED = timedelta(seconds=15)
"""A process claims and renews leases for this time after it began to read the item."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveRegion:
    """Which region claims actions.

    Attributes:
        epoch: counts failovers, from 1.
        region: the active region; empty during a failover, when no region claims.
        target: the region that becomes active, or is.
        source: the region that was active before; empty at first.
        moved_at: when the epoch began.
        by: the operator.
    """

    epoch: int
    region: str
    target: str
    moved_at: datetime
    by: str
    source: str = ""

    def fenced(self, target: str, *, at: datetime, by: str) -> Self:
        """Return the item at the next epoch, in which no region claims until `target` is activated."""
        source = self.region or self.source
        return replace(
            self, epoch=self.epoch + 1, region="", target=target, source=source, moved_at=at, by=by
        )

    def activated(self) -> Self:
        """Return the item after its target has become active."""
        return replace(self, region=self.target)


def epoch_of(fence: int) -> int:
    """Return the epoch of the claim that wrote a fence."""
    return fence // FENCES


def next_fence(fence: int, epoch: int) -> int:
    """Return the fence of a claim at an epoch; 0 is that of a deployment without a standby region."""
    return max(fence + 1, epoch * FENCES)


def quiet_time(lease: timedelta, skew: timedelta) -> timedelta:
    """Return how long after the begin of an epoch a lease of the former region may be live."""
    return TRUSTED + lease + skew
