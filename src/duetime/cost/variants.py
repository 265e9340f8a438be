"""The same deployment with other ways of billing, which duetime has no setting for: its monthly price."""

from __future__ import annotations

from collections.abc import Sequence

from duetime.cost import units
from duetime.cost.alternatives import Alternative
from duetime.cost.prices import CostLine, Prices
from duetime.cost.units import DAYS

_HOURS = 24 * DAYS
_SECONDS = 3_600
# Lines of requests on demand, and the prices of their capacity.
_CAPACITY = {"tables: writes": "write-capacity", "tables: reads": "read-capacity"}


def variants(lines: Sequence[CostLine], prices: Prices) -> tuple[Alternative, ...]:
    """Return the variants of a deployment with these lines."""
    return (
        Alternative(
            "duetime, provisioned capacity",
            tuple(_provisioned(line, prices) for line in lines),
            "no setting: duetime creates its tables on demand; DynamoDB throttles above the capacity",
        ),
    )


def _provisioned(line: CostLine, prices: Prices) -> CostLine:
    """Return the line with capacity units by the hour instead of requests."""
    if line.name not in _CAPACITY:
        return line
    of_one = _SECONDS * units.CAPACITY_USE
    least = units.CAPACITIES * _HOURS
    note = f"{units.CAPACITY_USE:.0%} used; at least one unit for each table and index"
    price = prices[_CAPACITY[line.name]]
    return CostLine(line.name, price, line.grows / of_one, line.fixed / of_one + least, note)
