"""Draws every random decision of a simulation from one seed."""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random

from duetime.instant import LATEST
from duetime.testing.faults import Faults

SECOND = timedelta(seconds=1)


class Dice:
    """Draws every random decision of a simulation from one seed, in order."""

    def __init__(self, faults: Faults) -> None:
        self.faults, self.are_fair = faults, False
        self.random = Random(faults.seed)  # noqa: S311 - simulated faults

    def hits(self, rate: float) -> bool:
        """Return whether a fault of this rate happens now; never after the faults have ended."""
        return not self.are_fair and rate > 0 and self.random.random() < rate

    def is_heads(self) -> bool:
        """Return True or False with equal probability."""
        return self.random.getrandbits(1) == 1

    def lost_at(self, start: datetime) -> datetime:
        """Return when all messages are lost, `LATEST` if never; it is drawn apart from other faults."""
        draw = Random(f"lose all {self.faults.seed}")  # noqa: S311 - as above
        if draw.random() >= self.faults.lose_all:
            return LATEST
        return start + timedelta(minutes=120 ** draw.random())

    def span(self, longest: timedelta) -> timedelta:
        """Return a duration up to `longest`; mostly a small part of it."""
        return longest * self.random.random() ** 3

    def skew(self) -> timedelta:
        """Return the offset of a process' clock."""
        return timedelta(0) if self.are_fair else self.faults.skew * round(self.random.random() - 0.5, 3)

    def random_bytes(self, size: int) -> bytes:
        """Return random bytes for ids."""
        return self.random.randbytes(size)
