"""``duetime app simulate``: the runs that an app's jobs would have in a period, without running them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from duetime.cli.failures import BadUsage
from duetime.cli.loading import app_at
from duetime.cli.output import print_either
from duetime.cli.preview import local_text, row_as_json
from duetime.cli.tables import table
from duetime.cli.terminal import ProgressBar
from duetime.cli.times import to_second
from duetime.clock import SystemClock
from duetime.simulate import YEAR, JobRuns, Simulated, simulate


def run(arguments: argparse.Namespace) -> int:
    """Print the runs that would happen."""
    start = SystemClock().now() if arguments.start is None else datetime.fromisoformat(arguments.start)
    until = start + YEAR if arguments.until is None else datetime.fromisoformat(arguments.until)
    if until <= start:
        raise BadUsage(f"--until {to_second(until)} is not after --from {to_second(start)}")
    app = app_at(arguments.app)
    with ProgressBar("simulate"):
        found = simulate(app, start, until)
    lines = _lines_of_runs(found) if arguments.runs else _as_text(found)
    content = _as_json(found, with_runs=arguments.runs)
    return print_either(arguments, content, lambda: "\n".join(lines), is_long=True)


def _lines_of_runs(found: Simulated) -> Iterator[str]:
    yield from (f"{to_second(at)}  {name}" for at, name in found.runs())
    yield from (f"more of {job.name} is left out" for job in found.jobs if job.is_cut)


def _as_text(found: Simulated) -> Iterator[str]:
    yield f"from {to_second(found.start)} until {to_second(found.until)}"
    yield ""
    if not found.jobs:
        yield "no jobs"
        return
    yield table(("JOB", "RUNS", "FIRST", "LAST", "CLOCKS"), [_row(job) for job in found.jobs])
    changes = [(row, job.name) for job in found.jobs for row in job.changes]
    if changes:
        yield "\nchanges of the clocks:"
        yield from (f"{local_text(row)}  {name}  {row.words}" for row, name in changes)
    met = found.most_at_once()
    if met:
        yield f"\nmost at once: {len(met[1])} jobs, first at {to_second(met[0])}: {', '.join(met[1])}"


def _row(job: JobRuns) -> tuple[str, ...]:
    first, last = (to_second(job.runs[0]), to_second(job.runs[-1])) if job.runs else ("-", "-")
    count = f"{len(job.runs):,}{' and more' if job.is_cut else ''}"
    return job.name, count, first, last, str(len(job.changes) or "-")


def _as_json(found: Simulated, *, with_runs: bool) -> dict[str, Any]:
    met = found.most_at_once()
    document: dict[str, Any] = {
        "from": to_second(found.start),
        "until": to_second(found.until),
        "jobs": [
            {
                "name": job.name,
                "runs": len(job.runs),
                "is_cut": job.is_cut,
                "first": to_second(job.runs[0]) if job.runs else None,
                "last": to_second(job.runs[-1]) if job.runs else None,
                "changes": [*map(row_as_json, job.changes)],
            }
            for job in found.jobs
        ],
        "most_at_once": met and {"at": to_second(met[0]), "jobs": [*met[1]]},
    }
    return document | (
        {"runs": [{"at": to_second(at), "job": name} for at, name in found.runs()]} if with_runs else {}
    )
