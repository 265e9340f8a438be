"""``duetime app diff``: what a deploy of an app would change, for each job and its runs."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from duetime.cli.arguments import JOBS, Commands, add_connection, client_of, instant
from duetime.cli.failures import BadUsage, CommandFailed
from duetime.cli.loading import app_at
from duetime.cli.output import print_json
from duetime.cli.tables import plain
from duetime.cli.times import duration
from duetime.clock import SystemClock
from duetime.environment import environment

if TYPE_CHECKING:  # imported when it runs: `duetime --help` must be quick
    from duetime.cli.client import Client
    from duetime.differences import DeclaredJob, JobDifference
    from duetime.ids import JobName

_DAYS = timedelta(days=90)
_SHOWN = 5
_MARKS = {"added": "+", "removed": "-", "changed": "~"}


def add_parser(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "diff",
        help="show what a deploy of an app would change: jobs and runs",
        description="Compare an app's jobs with those of a deployment, or of another app: which are added,"
        " removed and changed, and which runs are gained, lost or moved, with clock changes and calendars.",
    )
    add = parser.add_argument
    add("--app", required=True, metavar="MODULE:NAME", help="the new app, such as examples.billing:app")
    add(
        "--against",
        metavar="URL or MODULE:NAME",
        help="the deployment or the app to compare with (default: the scheduler of --url or --profile)",
    )
    add(
        "--tzdata",
        nargs=2,
        metavar=("OLD", "NEW"),
        help="compare the app with itself under two releases of the time zone database, each a directory of"
        " zones such as /usr/share/zoneinfo",
    )
    add("--for", dest="length", type=duration, default=_DAYS, metavar="SPAN", help="how long (default: 90d)")
    add("--from", dest="start", metavar="TIME", type=instant, help="the start (default: now)")
    add("--markdown", action="store_true", help="Markdown, as for a pull request")
    add_connection(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the differences; return 0 whether or not there are any."""
    start = SystemClock().now() if arguments.start is None else datetime.fromisoformat(arguments.start)
    if arguments.length <= timedelta(0):
        raise BadUsage("--for takes a span above zero, such as 90d")
    until = start + arguments.length
    if arguments.tzdata and arguments.against:
        raise BadUsage("--tzdata compares an app with itself; leave --against out")
    found = _found(arguments, start, until)
    if arguments.json:
        print_json(_as_json(found, start, until))
        return 0
    lines = _as_markdown(found, start, until) if arguments.markdown else _as_text(found, start, until)
    print("\n".join(lines))
    return 0


def _found(arguments: argparse.Namespace, start: datetime, until: datetime) -> list[JobDifference]:
    from duetime.differences import declared_by, differences, differences_of_runs  # noqa: PLC0415 - as above

    app = app_at(arguments.app)
    new = declared_by(app)
    if arguments.tzdata:
        runs = [_runs_under(Path(folder), arguments.app, start, until) for folder in arguments.tzdata]
        return [*differences_of_runs(new, *runs)]
    return [*differences(_other_side(arguments, app.worker), new, start, until)]


def _runs_under(folder: Path, app: str, start: datetime, until: datetime) -> dict[str, list[datetime]]:
    """Return an app's runs under another time zone database, computed by another process.

    Raises:
        BadUsage: the folder has no zones.
    """
    if not (folder / "Europe" / "Paris").is_file():
        raise BadUsage(f"--tzdata: {folder} has no zones; name a directory such as /usr/share/zoneinfo")
    span = ("--from", _zulu(start), "--until", _zulu(until))
    found = subprocess.run(  # noqa: S603 - the caller's words
        [sys.executable, "-m", "duetime", "app", "simulate", "--app", app, *span, "--runs", "--json"],
        env={**environment(), "PYTHONTZPATH": str(folder.absolute())},
        capture_output=True,
        text=True,
        check=False,
    )
    if found.returncode:
        raise CommandFailed(f"the runs under {folder} are not known: {found.stderr.strip()[-400:]}")
    runs = dict[str, list[datetime]]()
    for run_ in json.loads(found.stdout)["runs"]:
        runs.setdefault(run_["job"], []).append(datetime.fromisoformat(run_["at"]))
    return runs


def _other_side(arguments: argparse.Namespace, worker: str) -> dict[JobName, DeclaredJob]:
    from duetime.differences import declared_by  # noqa: PLC0415 - as above

    against = arguments.against
    if against and "://" not in against:
        return declared_by(app_at(against))
    if against:
        arguments.url = against
    return _deployed(client_of(arguments), worker)


def _deployed(client: Client, worker: str) -> dict[JobName, DeclaredJob]:
    """Return the jobs that a worker's code declares: a deploy of its app changes no others."""
    from duetime.differences import declared_in  # noqa: PLC0415 - as above
    from duetime.model.built_in import RESERVED  # noqa: PLC0415
    from duetime.model.job import Origin  # noqa: PLC0415

    names, cursor = list[str](), None
    while True:
        page = client.ask("GET", JOBS, query={"limit": "100", "cursor": cursor})
        names += [job["name"] for job in page["items"] if job["origin"] == Origin.CODE]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    shown = [client.ask("GET", JOBS, name) for name in names if not name.startswith(RESERVED)]
    jobs = [declared_in(job) for job in shown if job["worker"] == worker]
    return {job.name: job for job in jobs}


def _as_text(found: Sequence[JobDifference], start: datetime, until: datetime) -> Iterator[str]:
    yield f"runs from {_zulu(start)} until {_zulu(until)}"
    if not found:
        yield "no job differs"
    for job in found:
        yield ""
        yield f"{_MARKS[job.kind]} {job.name}: {job.kind}, {_counts(job)}"
        for name, old, new in job.changes:
            yield f"    {name}: {plain(old) or '-'}"
            yield f"    {' ' * len(name)}  {plain(new) or '-'}"
        for label, runs in _examples(job):
            yield f"    {label}: {', '.join(runs)}"


def _as_markdown(found: Sequence[JobDifference], start: datetime, until: datetime) -> Iterator[str]:
    yield f"**Jobs**, with the runs from {_zulu(start)} until {_zulu(until)}"
    yield ""
    if not found:
        yield "No job differs."
        return
    yield "| job | change | gained | lost | moved |"
    yield "|---|---|---|---|---|"
    for job in found:
        cells = (f"{len(job.gained):,}", f"{len(job.lost):,}", f"{len(job.moved):,}")
        yield f"| `{job.name}` | {job.kind} | {' | '.join(cells)} |"
    for job in found:
        details = [
            *(f"- {name}: `{_cell(old)}` → `{_cell(new)}`" for name, old, new in job.changes),
            *(f"- {label}: {', '.join(runs)}" for label, runs in _examples(job)),
        ]
        if details:
            yield ""
            yield f"`{job.name}`"
            yield ""
            yield from details


def _cell(text: str) -> str:
    return plain(text).replace("`", "'") or "-"


def _counts(job: JobDifference) -> str:
    counts = ((len(job.gained), "gained"), (len(job.lost), "lost"), (len(job.moved), "moved"))
    words = [f"{count:,} {what}" for count, what in counts if count]
    return (", ".join(words) or "the same runs") + (" at least" if job.is_cut else "")


def _examples(job: JobDifference) -> Iterator[tuple[str, list[str]]]:
    """Yield the first runs of each kind, in the job's zone."""
    from zoneinfo import ZoneInfo  # noqa: PLC0415 - as above

    zone = ZoneInfo(job.tz)

    def local(at: datetime) -> str:
        return f"{at.astimezone(zone):%a %Y-%m-%d %H:%M:%S%z}".replace(":00+", "+").replace(":00-", "-")

    for label, runs in (
        ("gained", map(local, job.gained)),
        ("lost", map(local, job.lost)),
        ("moved", (f"{local(old)} to {local(new)[15:]}" for old, new in job.moved)),
    ):
        shown = [*islice(runs, _SHOWN)]
        if shown:
            yield label, shown


def _as_json(found: Sequence[JobDifference], start: datetime, until: datetime) -> dict[str, Any]:
    return {
        "from": _zulu(start),
        "until": _zulu(until),
        "jobs": [
            {
                "name": job.name,
                "kind": job.kind,
                "changes": [{"field": name, "old": old, "new": new} for name, old, new in job.changes],
                "gained": [*map(_zulu, job.gained)],
                "lost": [*map(_zulu, job.lost)],
                "moved": [{"from": _zulu(old), "to": _zulu(new)} for old, new in job.moved],
                "is_cut": job.is_cut,
            }
            for job in found
        ],
    }


def _zulu(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"
