"""The price list, a dated file of the package or of your own, and the lines of an estimate that use it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import date
from importlib import resources
from pathlib import Path
from typing import Any

from duetime.cost.workload import is_number
from duetime.errors import InvalidArgument, truncate

_USUAL = "prices.toml"
_HEAD = ("as_of", "region")
_FREE = "free"


@dataclass(frozen=True, slots=True)
class Price:
    """The price of a number of units.

    Attributes:
        dollars: the price.
        per: the number of units.
        unit: the name of the unit.
        source: where the price is published.
        free: units a month that are free of charge without an end.
    """

    dollars: float
    per: float
    unit: str
    source: str
    free: float = 0

    def dollars_for(self, quantity: float) -> float:
        """Return the price of a quantity of units."""
        return quantity / self.per * self.dollars


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


@dataclass(frozen=True, slots=True)
class Prices:
    """The prices of one region on one date, by name."""

    name: str
    as_of: date
    region: str
    by_name: Mapping[str, Price]

    def __getitem__(self, name: str) -> Price:
        return self.by_name[name]


def usual_prices() -> Prices:
    """Return the price list of the package."""
    text = resources.files(__package__).joinpath(_USUAL).read_text(encoding="utf-8")
    return _prices(_USUAL, tomllib.loads(text))


def prices_at(path: Path) -> Prices:
    """Return the price list of a file, which must have exactly the names of the package's list.

    Raises:
        InvalidArgument: the file cannot be read, a price is missing, or a name is unknown.
    """
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise _invalid(str(path), error.strerror or "it cannot be read") from None
    except ValueError as error:
        raise _invalid(str(path), f"it is not TOML: {error}") from None
    prices, usual = _prices(str(path), given), usual_prices().by_name
    wrong = [f"{name!r} is missing" for name in usual if name not in prices.by_name]
    wrong += [f"{name!r} is unknown" for name in prices.by_name if name not in usual]
    if wrong:
        raise _invalid(str(path), f"{'; '.join(wrong)}; copy the names from duetime/cost/{_USUAL}")
    return prices


def _prices(source: str, given: Mapping[str, Any]) -> Prices:
    as_of, region = given.get("as_of"), given.get("region")
    if type(as_of) is not date or not isinstance(region, str):
        raise _invalid(source, 'begin it with as_of = 2026-06-13, a date, and region = "us-east-1"')
    listed = {name: _price(source, name, entry) for name, entry in given.items() if name not in _HEAD}
    return Prices(source, as_of, region, listed)


def _price(source: str, name: str, given: Any) -> Price:
    expected = {field.name for field in fields(Price)} - {_FREE}
    if not isinstance(given, dict) or set(given) - {_FREE} != expected:
        listed = ", ".join(sorted(expected))
        raise _invalid(source, f"[{name}] must have exactly {listed}, and may have {_FREE}")
    dollars, per, free = given["dollars"], given["per"], given.get(_FREE, 0)
    is_price = is_number(dollars) and is_number(per) and dollars >= 0 and per > 0
    are_texts = isinstance(given["unit"], str) and isinstance(given["source"], str)
    for is_valid, rule in (
        (is_price, "dollars must be a number of at least 0, per a number above 0"),
        (is_number(free) and free >= 0, f"{_FREE} must be a number of at least 0"),
        (are_texts, "unit and source must be texts"),
    ):
        if not is_valid:
            raise _invalid(source, f"[{name}]: {rule}")
    return Price(**given)


def _invalid(source: str, problem: str) -> InvalidArgument:
    return InvalidArgument(f"price list {truncate(source, 100)}: {truncate(problem)}", field="prices")
