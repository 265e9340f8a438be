"""``duetime app cost``: estimates a workload's monthly costs and its alternatives. It makes no request."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from duetime._english import plural
from duetime.cli.failures import BadUsage
from duetime.cli.loading import app_at
from duetime.cli.output import print_either
from duetime.cli.tables import plain, table
from duetime.clock import SystemClock
from duetime.cost.estimate import Estimate, estimate
from duetime.cost.prices import CostLine, Prices, prices_at, usual_prices
from duetime.cost.workload import Workload
from duetime.errors import InvalidArgument
from duetime.ids import JobName
from duetime.simulate import runs_per_day

_NUMBERS = ("units a month", "grows", "fixed", "dollars")
_DIGITS = 4
# Numbers from this one on are printed without fractions.
_MANY = 100
_FREE = "those without an end, in an account with nothing else"
_NO_RUNS = "no cadence is due within a year; runs that events start are not counted"
_dollars = "{:,.2f}".format


def run(arguments: argparse.Namespace) -> int:
    """Print the estimate."""
    given = dict[str, Any](arguments.workload)
    jobs = None
    if arguments.app is not None:
        if given.keys() & {"jobs", "runs_per_day"}:
            raise BadUsage("--app reads the jobs; leave out jobs and runs_per_day, or --app")
        found = runs_per_day(app_at(arguments.app), SystemClock().now())
        jobs = {name: round(runs, _DIGITS) for name, runs in found.items()}
        given |= {"jobs": len(jobs), "runs_per_day": sum(jobs.values()) / max(1, len(jobs))}
    try:
        prices = usual_prices() if arguments.prices is None else prices_at(arguments.prices)
        workload = Workload(**given)
    except InvalidArgument as refused:
        raise BadUsage(str(refused)) from None
    made = estimate(workload, prices)
    content = _as_json(made) | ({} if jobs is None else {"runs_per_day": jobs})
    return print_either(arguments, content, lambda: "\n\n".join(_as_tables(made, jobs)))


def _as_tables(made: Estimate, jobs: Mapping[JobName, float] | None) -> Iterator[str]:
    yield _heading(made.workload, made.prices)
    if jobs:
        rows = [(name, _a_day(runs), "" if runs else _NO_RUNS) for name, runs in jobs.items()]
        yield _aligned(("job", "runs a day", ""), rows, numbers=1)
    yield _aligned(("line", *_NUMBERS, "unit, and what for"), [*_rows(made)], numbers=len(_NUMBERS))
    instead = [(other.name, _dollars(other.dollars), other.lacks) for other in made.alternatives]
    yield _aligned(("instead", "dollars", "lacks"), instead, numbers=1)


def _a_day(runs: float) -> str:
    """Return a number of runs; only a small one has decimals."""
    return f"{runs:,.0f}" if runs >= _MANY else f"{runs:.3g}"


def _heading(work: Workload, prices: Prices) -> str:
    actions, runs = f"{work.actions_per_day:,.12g}", _a_day(work.runs_of_jobs_per_day)
    listed = f"{plain(prices.name)}, {plain(prices.region)}, as of {prices.as_of}"
    return (
        f"{actions} {plural(work.actions_per_day, 'action')} and"
        f" {runs} {plural(work.runs_of_jobs_per_day, 'run')} of jobs a day, in dollars a month.\n"
        f"Prices: {listed}, without free tiers."
    )


def _rows(made: Estimate) -> Iterator[tuple[str, ...]]:
    for line in made.lines:
        if count := line.quantity:
            amounts = map(_dollars, (line.growing_dollars, line.fixed_dollars, line.dollars))
            units = f"{count:,.0f}" if count >= _MANY else _dollars(count)
            yield line.name, units, *amounts, f"{line.price.unit}: {line.note}"
    dollars = made.per_million
    per_million = "" if dollars is None else f"{_dollars(dollars)} per million actions and runs"
    sums = map(_dollars, (made.growing_dollars, made.fixed_dollars, made.dollars))
    yield "total", "", *sums, per_million
    yield "less free tiers", "", "", "", _dollars(made.dollars - made.free_dollars), _FREE


def _aligned(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]], *, numbers: int) -> str:
    """Return a table whose `numbers` columns after the first are flush right."""
    lines = [heads, *rows]
    widths = [max(len(row[column]) for row in lines) for column in range(numbers + 1)]
    flush = [
        [row[0], *(row[index].rjust(widths[index]) for index in range(1, numbers + 1)), *row[numbers + 1 :]]
        for row in lines
    ]
    return table(flush[0], flush[1:])


def _as_json(made: Estimate) -> dict[str, Any]:
    return {
        "prices": made.prices.name,
        "region": made.prices.region,
        "as_of": made.prices.as_of.isoformat(),
        "workload": asdict(made.workload),
        "lines": [*map(_line, made.lines)],
        "growing_dollars": made.growing_dollars,
        "fixed_dollars": made.fixed_dollars,
        "dollars": made.dollars,
        "per_million": made.per_million,
        "free_dollars": made.free_dollars,
        "alternatives": [
            {
                "name": alternative.name,
                "dollars": alternative.dollars,
                "lacks": alternative.lacks,
                "lines": [_line(one) for one in alternative.lines],
            }
            for alternative in made.alternatives
        ],
    }


def _line(line: CostLine) -> dict[str, Any]:
    return {
        "name": line.name,
        "quantity": line.quantity,
        "unit": line.price.unit,
        "growing_dollars": line.growing_dollars,
        "fixed_dollars": line.fixed_dollars,
        "dollars": line.dollars,
        "note": line.note,
        "price": {
            "dollars": line.price.dollars,
            "per": line.price.per,
            "free": line.price.free,
            "source": line.price.source,
        },
    }
