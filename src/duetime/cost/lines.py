"""A line of an estimate: units of one price a month, growing and fixed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from duetime.cost.prices import Price


@dataclass(frozen=True, slots=True)
class CostLine:
    """Units a month at one price.

    Attributes:
        grows: units that grow with the work.
        fixed: units without any work.
    """

    name: str
    price: Price
    grows: float
    fixed: float
    note: str

    @property
    def quantity(self) -> float:
        """All units."""
        return self.grows + self.fixed

    @property
    def unit(self) -> str:
        """The name of the unit."""
        return self.price.unit

    @property
    def growing_dollars(self) -> float:
        """Dollars a month that grow with the work."""
        return self.price.dollars_for(self.grows)

    @property
    def fixed_dollars(self) -> float:
        """Dollars a month without any work."""
        return self.price.dollars_for(self.fixed)

    @property
    def dollars(self) -> float:
        """Dollars a month."""
        return self.growing_dollars + self.fixed_dollars


def total(lines: Iterable[CostLine]) -> float:
    """Return the dollars a month of these lines."""
    return sum(line.dollars for line in lines)
