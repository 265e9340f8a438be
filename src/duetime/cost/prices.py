"""The price list: one dated file, read when it is asked for; or one's own of the same names."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import date
from importlib import resources
from pathlib import Path
from typing import Any

from duetime.errors import DuetimeError, truncate

_USUAL = "prices.toml"
_HEAD = ("as_of", "region")


class InvalidPrices(DuetimeError, ValueError):
    """A price list that cannot be read, or that lacks a price."""

    code = "invalid-prices"

    def __init__(self, source: str, problem: str) -> None:
        self.source, self.problem = source, problem
        super().__init__(f"price list {truncate(source, 100)}: {truncate(problem)}")


@dataclass(frozen=True, slots=True)
class Price:
    """So many dollars for so many units, and who says so."""

    dollars: float
    per: float
    unit: str
    source: str

    def of(self, quantity: float) -> float:
        """Dollars for that many units."""
        return quantity / self.per * self.dollars


@dataclass(frozen=True, slots=True)
class Prices:
    """The prices of one region as of one day, by their names."""

    name: str
    as_of: date
    region: str
    by_name: Mapping[str, Price]

    def __getitem__(self, name: str) -> Price:
        return self.by_name[name]


def usual_prices() -> Prices:
    """The list that comes with duetime."""
    text = resources.files(__package__).joinpath(_USUAL).read_text(encoding="utf-8")
    return _prices(_USUAL, tomllib.loads(text))


def prices_at(path: Path) -> Prices:
    """One's own list: the same names as in the usual one, each with a price.

    Raises:
        InvalidPrices: it cannot be read, lacks a price, or names one that nothing goes by.
    """
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidPrices(str(path), error.strerror or "it cannot be read") from None
    except ValueError as error:
        raise InvalidPrices(str(path), f"it is no TOML: {error}") from None
    prices, usual = _prices(str(path), given), usual_prices().by_name
    wrong = [f"{name!r} is missing" for name in usual if name not in prices.by_name]
    wrong += [f"{name!r} is no price of ours" for name in prices.by_name if name not in usual]
    if wrong:
        raise InvalidPrices(str(path), "; ".join(wrong))
    return prices


def _prices(source: str, given: Mapping[str, Any]) -> Prices:
    as_of, region = given.get("as_of"), given.get("region")
    if type(as_of) is not date or not isinstance(region, str):
        raise InvalidPrices(source, 'begin it with as_of = 2025-06-01, a date, and region = "us-east-1"')
    listed = {name: _price(source, name, each) for name, each in given.items() if name not in _HEAD}
    return Prices(source, as_of, region, listed)


def _price(source: str, name: str, given: Any) -> Price:
    wanted = {field.name for field in fields(Price)}
    if not isinstance(given, dict) or set(given) != wanted:
        raise InvalidPrices(source, f"[{name}] takes exactly {', '.join(sorted(wanted))}")
    if not _is_amount(given["dollars"]) or not _is_amount(given["per"]) or given["per"] == 0:
        raise InvalidPrices(source, f"[{name}]: dollars is a number from 0 on, per one above 0")
    if not isinstance(given["unit"], str) or not isinstance(given["source"], str):
        raise InvalidPrices(source, f"[{name}]: unit and source are texts")
    return Price(**given)


def _is_amount(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(value) and value >= 0
