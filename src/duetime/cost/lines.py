"""A line of an estimate: units of one price a month, what grows with the work and what is fixed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from duetime.cost.prices import Price


@dataclass(frozen=True, slots=True)
class CostLine:
    """So many units a month at one price. `grows` comes with the work, `fixed` is there without any."""

    name: str
    price: Price
    grows: float
    fixed: float
    note: str

    @property
    def quantity(self) -> float:
        """Units in all."""
        return self.grows + self.fixed

    @property
    def unit(self) -> str:
        """What is counted."""
        return self.price.unit

    @property
    def growing_dollars(self) -> float:
        """Dollars a month that come with the work."""
        return self.price.of(self.grows)

    @property
    def fixed_dollars(self) -> float:
        """Dollars a month at rest."""
        return self.price.of(self.fixed)

    @property
    def dollars(self) -> float:
        """Dollars a month."""
        return self.growing_dollars + self.fixed_dollars


def total(lines: Iterable[CostLine]) -> float:
    """Dollars a month of lines together."""
    return sum(line.dollars for line in lines)
