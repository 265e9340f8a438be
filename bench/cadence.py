"""Cadences against cronsim and croniter: the cost of parsing and of the next occurrence, in the same run.

``python bench/cadence.py`` prints a table and then one JSON object a line. ``--quick`` takes a tenth of the
samples. Ratios are ours over theirs, smaller is better; the budget is 1.0 of cronsim and 0.3 of croniter.
"""

from __future__ import annotations

import argparse
import json
import timeit
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple
from zoneinfo import ZoneInfo

from croniter import croniter
from cronsim import CronSim

from duetime.cadence import cron

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

START = datetime(2026, 1, 15, 12, 3, 20, tzinfo=UTC)
STEPS = 10_000
OF_CRONSIM, OF_CRONITER = 1.0, 0.3
MICRO = 1e6


class Case(NamedTuple):
    """A case: a kind, an expression, a zone."""

    kind: str
    expression: str
    tz: str = "UTC"


CASES = (
    Case("common", "*/5 * * * *"),
    Case("common", "30 2 * * *"),
    Case("common", "0 9 * * MON-FRI"),
    Case("common", "0 9 1,15 * *"),
    Case("common", "15 10 L * *"),
    Case("common", "0 0 * * 1#2"),
    Case("pathological", "0 0 29 2 *"),
    Case("pathological", "59 23 31 12 *"),
    Case("zoned", "*/5 * * * *", "Europe/Paris"),
    Case("zoned", "30 2 * * *", "Europe/Paris"),
    Case("zoned", "0 9 * * MON-FRI", "America/New_York"),
    Case("zoned pathological", "0 0 29 2 *", "Europe/Paris"),
)


class Row(NamedTuple):
    """Microseconds of each library, and the ratios."""

    measure: str
    kind: str
    expression: str
    tz: str
    ours: float
    cronsim: float
    croniter: float

    @property
    def of_cronsim(self) -> float:
        """The cost of duetime over cronsim's."""
        return self.ours / self.cronsim

    @property
    def of_croniter(self) -> float:
        """The cost of duetime over croniter's."""
        return self.ours / self.croniter


def fastest(work: Callable[[], object], number: int) -> float:
    """Return the microseconds of one call: the best of several rounds."""
    return min(timeit.repeat(work, number=number, repeat=7)) / number * MICRO


def parse_and_next(case: Case, scale: int) -> Row:
    """Measure a new object with its first occurrence, as in a process that reads a schedule."""
    local = START.astimezone(ZoneInfo(case.tz))
    return Row(
        "parse and next",
        *case,
        fastest(lambda: cron(case.expression, tz=case.tz).next_after(START), 300 * scale),
        fastest(lambda: next(CronSim(case.expression, local)), 100 * scale),
        fastest(lambda: croniter(case.expression, local).get_next(datetime), 30 * scale),
    )


def next_alone(case: Case, scale: int) -> Row:
    """Measure the following occurrences of an existing object: 50 steps, per step."""
    local = START.astimezone(ZoneInfo(case.tz))
    ours = cron(case.expression, tz=case.tz)
    steps = 50
    return Row(
        "next",
        *case,
        fastest(lambda: walk(ours_from(ours, START), steps), 4 * scale) / steps,
        fastest(lambda: walk(CronSim(case.expression, local), steps), 2 * scale) / steps,
        fastest(lambda: walk(croniter(case.expression, local, ret_type=datetime), steps), scale) / steps,
    )


def ours_from(cadence: object, start: datetime) -> Iterator[datetime]:
    at: datetime | None = start
    while at is not None:
        at = cadence.next_after(at)  # type: ignore[attr-defined]
        yield at


def walk(occurrences: Iterator[datetime], steps: int) -> None:
    for _ in range(steps):
        next(occurrences)


def ten_thousand(expression: str, tz: str) -> tuple[Row, list[float]]:
    """Measure ten thousand occurrences in a zone with DST, and each thousand: the cost must not grow."""
    local = START.astimezone(ZoneInfo(tz))
    ours = ours_from(cron(expression, tz=tz), START)
    thousands = [
        timeit.timeit(lambda: walk(ours, STEPS // 10), number=1) * MICRO / (STEPS // 10) for _ in range(10)
    ]
    row = Row(
        f"{STEPS} occurrences",
        "zoned",
        expression,
        tz,
        sum(thousands) / len(thousands),
        timeit.timeit(lambda: walk(CronSim(expression, local), STEPS), number=1) * MICRO / STEPS,
        timeit.timeit(lambda: walk(croniter(expression, local, ret_type=datetime), STEPS), number=1)
        * MICRO
        / STEPS,
    )
    return row, thousands


def show(rows: list[Row]) -> None:
    print(
        f"{'measure':18} {'kind':19} {'expression':18} {'zone':17} {'ours µs':>8} {'cronsim':>8} "
        f"{'croniter':>8}  of them"
    )
    for row in rows:
        shares = f"{row.of_cronsim:5.2f} {row.of_croniter:5.2f}"
        over = " over budget" if row.of_cronsim > OF_CRONSIM or row.of_croniter > OF_CRONITER else ""
        times = f"{row.ours:8.2f} {row.cronsim:8.2f} {row.croniter:8.2f}"
        print(f"{row.measure:18} {row.kind:19} {row.expression:18} {row.tz:17} {times}  {shares}{over}")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--quick", action="store_true", help="a tenth of the samples")
    scale = 1 if arguments.parse_args().quick else 10
    rows = [measure(case, scale) for measure in (parse_and_next, next_alone) for case in CASES]
    row, thousands = ten_thousand("*/5 * * * *", "Europe/Paris")
    show([*rows, row])
    print("each thousand of ours, µs an occurrence:", " ".join(f"{cost:.2f}" for cost in thousands))
    for measured in [*rows, row]:
        shares = {"of_cronsim": round(measured.of_cronsim, 3), "of_croniter": round(measured.of_croniter, 3)}
        print(json.dumps({"bench": "cadence", **measured._asdict(), **shares}))


if __name__ == "__main__":
    main()
