"""``duetime app simulate``: the runs that an app's jobs would have in a period, without running them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

from duetime.cli.arguments import Commands, instant
from duetime.cli.failures import BadUsage
from duetime.cli.loading import app_at
from duetime.cli.output import print_json
from duetime.cli.pager import print_long
from duetime.cli.progress import ProgressBar
from duetime.cli.tables import table
from duetime.clock import SystemClock

if TYPE_CHECKING:  # imported when it runs: `duetime --help` must be quick
    from duetime.cadence import LocalOccurrence
    from duetime.simulate import JobRuns, Simulated


def add_parser(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "simulate",
        help="count the runs that an app's jobs would have",
        description="Import an app and walk through its jobs' cadences, as if it were deployed at --from."
        " Nothing is run. CLOCKS counts the changes of the clocks that affect a job.",
    )
    add = parser.add_argument
    add("--app", required=True, metavar="MODULE:NAME", help="the app, such as examples.billing:app")
    add("--from", dest="start", metavar="TIME", type=instant, help="the start (default: now)")
    add("--until", metavar="TIME", type=instant, help="the end (default: 365 days later)")
    add("--runs", action="store_true", help="print a line for each run instead of the table")
    add("--json", action="store_true", help="one JSON object instead of tables; with --runs each of them")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the runs that would happen."""
    from duetime.simulate import YEAR, simulate  # noqa: PLC0415 - `duetime --help` needs no pydantic

    start = SystemClock().now() if arguments.start is None else datetime.fromisoformat(arguments.start)
    until = start + YEAR if arguments.until is None else datetime.fromisoformat(arguments.until)
    if until <= start:
        raise BadUsage(f"--until {_zulu(until)} is not after --from {_zulu(start)}")
    app = app_at(arguments.app)
    with ProgressBar("simulate"):
        found = simulate(app, start, until)
    if arguments.json:
        print_json(_as_json(found, with_runs=arguments.runs))
    else:
        print_long("\n".join(_lines_of_runs(found) if arguments.runs else _as_text(found)))
    return 0


def _lines_of_runs(found: Simulated) -> Iterator[str]:
    yield from (f"{_zulu(at)}  {name}" for at, name in found.runs())
    yield from (f"more of {job.name} is left out" for job in found.jobs if job.is_cut)


def _as_text(found: Simulated) -> Iterator[str]:
    yield f"from {_zulu(found.start)} until {_zulu(found.until)}"
    yield ""
    if not found.jobs:
        yield "no jobs"
        return
    yield table(("JOB", "RUNS", "FIRST", "LAST", "CLOCKS"), [_row(job) for job in found.jobs])
    changes = [(row, job.name) for job in found.jobs for row in job.changes]
    if changes:
        yield "\nchanges of the clocks:"
        yield from (f"{_shown(row)}  {name}  {row.words}" for row, name in changes)
    met = found.most_at_once()
    if met:
        yield f"\nmost at once: {len(met[1])} jobs, first at {_zulu(met[0])}: {', '.join(met[1])}"


def _row(job: JobRuns) -> tuple[str, ...]:
    first, last = (_zulu(job.runs[0]), _zulu(job.runs[-1])) if job.runs else ("-", "-")
    count = f"{len(job.runs):,}{' and more' if job.is_cut else ''}"
    return job.name, count, first, last, str(len(job.changes) or "-")


def _as_json(found: Simulated, *, with_runs: bool) -> dict[str, Any]:
    met = found.most_at_once()
    document: dict[str, Any] = {
        "from": _zulu(found.start),
        "until": _zulu(found.until),
        "jobs": [
            {
                "name": job.name,
                "runs": len(job.runs),
                "is_cut": job.is_cut,
                "first": _zulu(job.runs[0]) if job.runs else None,
                "last": _zulu(job.runs[-1]) if job.runs else None,
                "changes": [
                    {
                        "at": row.at and _zulu(row.at),
                        "local": _shown(row),
                        "mark": row.mark,
                        "note": row.words,
                    }
                    for row in job.changes
                ],
            }
            for job in found.jobs
        ],
        "most_at_once": met and {"at": _zulu(met[0]), "jobs": [*met[1]]},
    }
    return document | (
        {"runs": [{"at": _zulu(at), "job": name} for at, name in found.runs()]} if with_runs else {}
    )


def _shown(row: LocalOccurrence) -> str:
    sign, ahead = "-" if row.offset < 0 else "+", abs(row.offset)
    return f"{row.local:%Y-%m-%dT%H:%M:%S}{sign}{ahead // 3_600:02}:{ahead // 60 % 60:02}"


def _zulu(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"
