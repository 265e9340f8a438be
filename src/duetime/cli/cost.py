"""``duetime app cost``: estimates a workload's monthly costs and its alternatives. It makes no request."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from duetime._english import plural
from duetime.cli.failures import BadUsage
from duetime.cli.loading import app_at
from duetime.cli.output import print_either
from duetime.cli.tables import plain, table
from duetime.clock import SystemClock
from duetime.cost.estimate import Estimate, estimate
from duetime.cost.prices import CostLine, InvalidPrices, Prices, prices_at, usual_prices
from duetime.cost.workload import InvalidWorkload, Workload
from duetime.simulate import runs_per_day

# The fields of a workload that ``--app`` replaces.
_OF_APP = ("jobs", "runs_per_day")
_NUMBERS = ("units a month", "grows", "fixed", "dollars")


def run(arguments: argparse.Namespace) -> int:
    """Print the estimate."""
    jobs = _jobs_of_app(arguments)
    made = estimate(_workload(arguments, jobs), _prices(arguments.prices))
    content = _as_json(made) | ({} if jobs is None else {"runs_per_day": jobs})
    return print_either(arguments, content, lambda: "\n\n".join(_as_tables(made, jobs)))


def _jobs_of_app(arguments: argparse.Namespace) -> Mapping[str, float] | None:
    """Return the runs a day of each job of ``--app``; None without it.

    Raises:
        BadUsage: the jobs are given by options, too.
    """
    if arguments.app is None:
        return None
    if any(getattr(arguments, name) is not None for name in _OF_APP):
        raise BadUsage("--app reads the jobs; leave out --jobs and --runs-per-day, or --app")

    found = runs_per_day(app_at(arguments.app), SystemClock().now())
    return {name: round(runs, _DIGITS) for name, runs in found.items()}


def _workload(arguments: argparse.Namespace, jobs: Mapping[str, float] | None) -> Workload:
    given = {
        field.name: value
        for field in fields(Workload)
        if (value := getattr(arguments, field.name)) is not None
    }
    if jobs is not None:
        given |= {"jobs": len(jobs), "runs_per_day": sum(jobs.values()) / max(1, len(jobs))}
    try:
        return Workload(**given)
    except InvalidWorkload as refused:
        raise BadUsage("; ".join(map(_as_option, refused.problems))) from None


def _as_option(problem: str) -> str:
    """Return the problem of a field with the name of its option."""
    name, _, rest = problem.partition(" ")
    return f"--{name.replace('_', '-')} {rest}"


def _prices(path: Path | None) -> Prices:
    try:
        return usual_prices() if path is None else prices_at(path)
    except InvalidPrices as refused:
        raise BadUsage(str(refused)) from None


def _as_tables(made: Estimate, jobs: Mapping[str, float] | None) -> Iterator[str]:
    instead = [
        (alternative.name, _dollars(alternative.dollars), alternative.lacks)
        for alternative in made.alternatives
    ]
    yield _heading(made.workload, made.prices)
    if jobs:
        rows = [(name, _a_day(runs), "" if runs else _NO_RUNS) for name, runs in jobs.items()]
        yield _aligned(("job", "runs a day", ""), rows, numbers=1)
    yield _aligned(("line", *_NUMBERS, "unit, and what for"), [*_rows(made)], numbers=len(_NUMBERS))
    yield _aligned(("instead", "dollars", "lacks"), instead, numbers=1)


_DIGITS = 4
_MANY = 100
_FREE = "those without an end, in an account with nothing else"
_NO_RUNS = "no cadence is due within a year; runs that events start are not counted"


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
        if line.quantity:
            amounts = (line.growing_dollars, line.fixed_dollars, line.dollars)
            yield line.name, _count(line.quantity), *map(_dollars, amounts), f"{line.price.unit}: {line.note}"
    sums = map(_dollars, (made.growing_dollars, made.fixed_dollars, made.dollars))
    per_million = (
        "" if made.per_million is None else f"{_dollars(made.per_million)} per million actions and runs"
    )
    yield "total", "", *sums, per_million
    left = made.dollars - made.free_dollars
    yield "less free tiers", "", "", "", _dollars(left), _FREE


def _aligned(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]], *, numbers: int) -> str:
    """Return a table whose `numbers` columns after the first are flush right."""
    lines = [heads, *rows]
    widths = [max(len(row[column]) for row in lines) for column in range(numbers + 1)]
    flush = [
        [row[0], *(row[index].rjust(widths[index]) for index in range(1, numbers + 1)), *row[numbers + 1 :]]
        for row in lines
    ]
    return table(flush[0], flush[1:])


def _count(quantity: float) -> str:
    return f"{quantity:,.0f}" if quantity >= _NO_FRACTIONS else f"{quantity:,.2f}"


# Quantities from this one on are printed without fractions.
_NO_FRACTIONS = 100


def _dollars(amount: float) -> str:
    return f"{amount:,.2f}"


def _as_json(made: Estimate) -> dict[str, Any]:
    return {
        "prices": made.prices.name,
        "region": made.prices.region,
        "as_of": made.prices.as_of.isoformat(),
        "workload": asdict(made.workload),
        "lines": [_line(line) for line in made.lines],
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
