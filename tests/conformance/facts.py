"""The facts of the suite: expressions, and the occurrences that our oracle finds minute by minute.

The oracle (``tests.cadence.oracle``) shares no code with ``duetime.cadence``. ``python -m
tests.conformance.facts`` renews ``facts.csv``: the same facts each time, unless the oracle changes.
"""

from __future__ import annotations

import csv
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from tests.cadence.oracle import Plain, occurrences

FILE = Path(__file__).parent / "facts.csv"
RULES = ("cronos", "vixie", "eventbridge")
SEED = 20_270_328
COUNT = 5
"""Occurrences of a fact at most."""

_PER_STRETCH, _DAYS = 9, 3

STRETCHES = (
    ("UTC", "2027-01-30T00:00"),
    ("Europe/Paris", "2027-03-26T23:00"),
    ("Europe/Paris", "2027-10-29T22:00"),
    ("America/New_York", "2027-03-13T00:00"),
    ("America/New_York", "2027-11-06T00:00"),
    ("America/Sao_Paulo", "2018-11-03T00:00"),
    ("Australia/Lord_Howe", "2027-04-02T00:00"),
    ("Australia/Lord_Howe", "2027-10-01T00:00"),
    ("Africa/Casablanca", "2027-02-06T00:00"),
    ("Antarctica/Troll", "2027-03-27T00:00"),
    ("Asia/Tokyo", "2028-02-28T00:00"),
    ("Pacific/Apia", "2011-12-28T10:00"),
)
"""Zones, and the beginnings of three days: most contain a change of the clocks."""


class Fact(NamedTuple):
    """One fact: the first occurrences strictly after an instant, up to the end of its three days.

    Attributes:
        rule: the rule for clock changes.
        day_rule: how two restricted day fields combine.
        after: an instant in UTC.
        expected: instants in UTC, with spaces between them.
    """

    number: str
    expression: str
    tz: str
    rule: str
    day_rule: str
    after: str
    until: str
    expected: str


def read() -> list[Fact]:
    """Return the facts of the file."""
    with FILE.open(newline="") as file:
        return [Fact(**row) for row in csv.DictReader(file)]


def made() -> Iterator[Fact]:
    """Yield the facts, computed by the oracle."""
    dice, number = random.Random(SEED), 0  # noqa: S311 - the same each time
    for tz, begin in STRETCHES:
        start = datetime.fromisoformat(begin).replace(tzinfo=UTC)
        end = start + timedelta(days=_DAYS)
        for _ in range(_PER_STRETCH):
            expression, day_rule = _expression(dice, start), dice.choice(["and", "or"])
            plain = Plain.parse(expression, day_rule)
            for rule in RULES:
                found = occurrences(
                    plain.matches, tz, start, end, dst=rule, interval=plain.interval, starred=plain.starred
                )
                if not found:
                    continue
                number += 1
                after = dice.choice([start, *found])  # an occurrence itself does not come after itself
                later = [at for at in found if at > after][:COUNT]
                yield Fact(
                    str(number),
                    expression,
                    tz,
                    rule,
                    day_rule,
                    _text(after),
                    _text(end),
                    " ".join(map(_text, later)),
                )


def write() -> None:
    """Write the file."""
    with FILE.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Fact._fields)
        writer.writerows(made())


def _expression(dice: random.Random, start: datetime) -> str:
    minute = dice.choice(["0", "30", "*/20", "15,45", "*", "5-10", "10-50/20", "7/25"])
    hour = dice.choice(["*", "2", "1-3", "0", "*/2", "23", "2,3", "0-4/2", "22-2"])
    day = dice.choice(["*", "*", "*", "L", "LW", "15W", "1,L-1", "*/2", f"{start.day}-31"])
    month = dice.choice(["*", "*", start.strftime("%b").upper(), "1-12/1"])
    weekday = dice.choice(["*", "*", "*", "SAT,SUN", "0-6", "SUN#4", "6L", "FRI-MON", "*/2"])
    return f"{minute} {hour} {day} {month} {weekday}"


def _text(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


if __name__ == "__main__":
    write()
