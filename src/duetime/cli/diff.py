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
from typing import Any
from zoneinfo import ZoneInfo

from duetime.cli.client import Client, client_of
from duetime.cli.failures import BadUsage, CommandFailed
from duetime.cli.loading import app_at
from duetime.cli.output import print_either
from duetime.cli.tables import plain
from duetime.cli.times import to_second
from duetime.clock import SystemClock
from duetime.differences import (
    DeclaredJob,
    JobDifference,
    declared_by,
    declared_in,
    differences,
    differences_of_runs,
)
from duetime.environment import environment
from duetime.ids import JobName
from duetime.model.built_in import RESERVED
from duetime.model.job import Origin

_SHOWN = 5
_MARKS = {"added": "+", "removed": "-", "changed": "~"}


def run(arguments: argparse.Namespace) -> int:
    """Print the differences; return 0 whether or not there are any."""
    start = SystemClock().now() if arguments.start is None else datetime.fromisoformat(arguments.start)
    if arguments.length <= timedelta(0):
        raise BadUsage("--for takes a span above zero, such as 90d")
    until = start + arguments.length
    if arguments.tzdata and arguments.against:
        raise BadUsage("--tzdata compares an app with itself; leave --against out")
    found = _found(arguments, start, until)
    lines = _as_markdown(found, start, until) if arguments.markdown else _as_text(found, start, until)
    return print_either(arguments, _as_json(found, start, until), lambda: "\n".join(lines))


def _found(arguments: argparse.Namespace, start: datetime, until: datetime) -> list[JobDifference]:
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
    span = ("--from", to_second(start), "--until", to_second(until))
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
    against = arguments.against
    if against and "://" not in against:
        return declared_by(app_at(against))
    if against:
        arguments.url = against
    return _deployed(client_of(arguments), worker)


def _deployed(client: Client, worker: str) -> dict[JobName, DeclaredJob]:
    """Return the jobs that a worker's code declares: a deploy of its app changes no others."""
    pages = client.pages("listJobs", {"limit": 100})
    found = [job for page in pages for job in page["items"] if job["origin"] == Origin.CODE]
    shown = [client.call("getJob", job).body for job in found if not job["name"].startswith(RESERVED)]
    jobs = [declared_in(job) for job in shown if job["worker"] == worker]
    return {job.name: job for job in jobs}


def _as_text(found: Sequence[JobDifference], start: datetime, until: datetime) -> Iterator[str]:
    yield f"runs from {to_second(start)} until {to_second(until)}"
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
    yield f"**Jobs**, with the runs from {to_second(start)} until {to_second(until)}"
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
        "from": to_second(start),
        "until": to_second(until),
        "jobs": [
            {
                "name": job.name,
                "kind": job.kind,
                "changes": [{"field": name, "old": old, "new": new} for name, old, new in job.changes],
                "gained": [*map(to_second, job.gained)],
                "lost": [*map(to_second, job.lost)],
                "moved": [{"from": to_second(old), "to": to_second(new)} for old, new in job.moved],
                "is_cut": job.is_cut,
            }
            for job in found
        ],
    }
