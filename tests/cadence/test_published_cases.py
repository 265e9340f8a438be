"""Facts from other schedulers' published suites, each under the clock rule of its scheduler.

``data/dst.csv`` holds behaviour around changes of the clocks; ``data/language.csv`` what expressions mean on
other days. Left out on purpose: Cronos' ``H`` (random by design), and robfig/cron's fixed times that run in
both passes of an overlap.
"""

from __future__ import annotations

import csv
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import pytest

from duetime.cadence import cron

DATA = Path(__file__).parent / "data"


class Case(NamedTuple):
    expression: str
    tz: str
    dst: str
    day_rule: str
    after: str
    expected: str
    source: str


def cases(name: str) -> list[Case]:
    with (DATA / name).open(newline="") as file:
        return [Case(**row) for row in csv.DictReader(file)]


def named(case: Case) -> str:
    return f"{case.expression}|{case.tz}|{case.dst}|{case.after}"


def difference(case: Case) -> str | None:
    """Return the case with what was found instead, if the next occurrence is another one."""
    try:
        cadence = cron(case.expression, tz=case.tz, dst=case.dst, day_rule=case.day_rule or None)
        found = cadence.next_after(datetime.fromisoformat(case.after))
    except Exception as error:  # noqa: BLE001 - a case that fails hides no other
        return f"{named(case)}: {error!r}"
    expected = datetime.fromisoformat(case.expected)
    return None if found == expected else f"{named(case)}: {found} instead of {expected}"


@pytest.mark.parametrize("name", ["dst.csv", "language.csv"])
def test_the_next_occurrence_is_the_one_that_another_scheduler_publishes(name: str) -> None:
    known = cases(name)

    assert known
    assert [found for case in known if (found := difference(case))] == []


def test_three_hundred_facts_are_about_clock_changes_and_each_names_its_source() -> None:
    facts = cases("dst.csv")

    assert len(set(facts)) >= 300
    assert all(fact.source for fact in facts)
