"""``duetime app``: what an app declares, the runs that its jobs would have, and what a deploy changes."""

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

from duetime._english import counted, plural
from duetime.check import Report, report
from duetime.cli.client import Client, client_of
from duetime.cli.failures import BadUsage
from duetime.cli.loading import app_at
from duetime.cli.output import ProgressBar, print_either
from duetime.cli.preview import local_text, row_as_json
from duetime.cli.tables import Table, plain, table, to_second
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
from duetime.errors import OperationFailed
from duetime.ids import JobName
from duetime.model.built_in import RESERVED
from duetime.model.job import Origin
from duetime.simulate import SPAN, YEAR, JobRuns, Simulated, simulate, storms

_JOBS = Table(
    {
        "JOB": "name",
        "CADENCES": lambda job, _: "; ".join(one["description"] for one in job["cadences"]) or "-",
        "NEXT RUN": "{next:-}",
        "OVERLAP": "overlap",
    }
)
_JOBS_WITH_DEADLINES = Table({**_JOBS.columns, "DEADLINE": "{deadline:-}"})
_PARTS = {
    "actions": Table({"TYPE": "type", "PAYLOAD": "version {version}", "HANDLER": "handler"}),
    "resources": Table({"RESOURCE": "resource", "MADE BY": "factory", "NEEDED BY": "{needed_by:-}"}),
}
_MOVES = Table({"JOB": "job", "NOW": "old", "SPREAD": "new"})


def run(arguments: argparse.Namespace) -> int:
    """Print the report; return 1 if there is a problem."""
    app, now = app_at(arguments.app), SystemClock().now()
    content = _as_json(report(app))
    lines = [_as_text(content, now)]
    if (most := arguments.storm) is not None:
        if most < 1:
            raise BadUsage(f"--storm is {most}; allowed is a number of runs from 1 on")
        content["storms"] = [
            {
                "at": to_second(storm.at),
                "jobs": [*storm.jobs],
                "times": storm.times,
                "moves": [{"job": move.job, "old": move.old, "new": move.new} for move in storm.moves],
            }
            for storm in storms(app, now, now + SPAN, most)
        ]
        none = f"no minute of the next week has more than {counted(most, 'job')}"
        lines += ["", *([*_storms(content, now)] or [none])]
    return print_either(arguments, content, lambda: "\n".join(lines)) or int(bool(content["problems"]))


def _storms(content: dict[str, Any], now: datetime) -> Iterator[str]:
    for storm in content["storms"]:
        others = storm["times"] - 1
        also = f", and in {others:,} other {plural(others, 'minute')}" if others else ""
        yield f"storm: {counted(len(storm['jobs']), 'job')} begin at {storm['at'][:16]}Z{also}"
        if storm["moves"]:
            yield _MOVES(storm["moves"], now)


def _as_text(content: dict[str, Any], now: datetime) -> str:
    jobs = content["jobs"]
    has_deadline = any(job["deadline"] for job in jobs)
    parts = [(_JOBS_WITH_DEADLINES if has_deadline else _JOBS)(jobs, now)] if jobs else []
    parts += [part(content[name], now) for name, part in _PARTS.items() if content[name]]
    for kind in ("note", "problem"):
        if messages := content[f"{kind}s"]:
            parts.append("\n".join(f"{kind}: {plain(message)}" for message in messages))
    found = counted(len(content["problems"]), "problem") if content["problems"] else "no problems"
    types = counted(len(content["actions"]), "action")
    return "\n\n".join([*parts, f"{counted(len(jobs), 'job')}, {types}, {found}"])


def _as_json(report: Report) -> dict[str, Any]:
    return {
        "jobs": [
            {
                "name": job.definition.name,
                "handler": job.where,
                "cadences": [{"cadence": text, "description": words} for text, words in job.cadences.items()],
                "next": job.next and to_second(job.next.at),
                "overlap": job.definition.overlap,
                "deadline": job.deadline or None,
            }
            for job in report.jobs
        ],
        "actions": [
            {"type": type_.name, "version": type_.version, "handler": type_.where} for type_ in report.types
        ],
        "resources": [
            {"resource": resource.name, "factory": resource.where, "needed_by": [*resource.needed_by]}
            for resource in report.resources
        ],
        "notes": [*report.notes],
        "problems": [*report.problems],
    }


def run_simulation(arguments: argparse.Namespace) -> int:
    """Print the runs that would happen."""
    start = SystemClock().now() if arguments.start is None else datetime.fromisoformat(arguments.start)
    until = start + YEAR if arguments.until is None else datetime.fromisoformat(arguments.until)
    if until <= start:
        raise BadUsage(f"--until {to_second(until)} is not after --from {to_second(start)}")
    app = app_at(arguments.app)
    with ProgressBar("simulate"):
        found = simulate(app, start, until)
    lines = _lines_of_runs(found) if arguments.runs else _as_table(found)
    met = found.most_at_once()
    content: dict[str, Any] = {
        "from": to_second(start),
        "until": to_second(until),
        "jobs": [{**_ends(job, None), "changes": [*map(row_as_json, job.changes)]} for job in found.jobs],
        "most_at_once": met and {"at": to_second(met[0]), "jobs": [*met[1]]},
    }
    if arguments.runs:
        content["runs"] = [{"at": to_second(at), "job": name} for at, name in found.runs()]
    return print_either(arguments, content, lambda: "\n".join(lines), is_long=True)


def _lines_of_runs(found: Simulated) -> Iterator[str]:
    yield from (f"{to_second(at)}  {name}" for at, name in found.runs())
    yield from (f"more of {job.name} is left out" for job in found.jobs if job.is_cut)


def _ends(job: JobRuns, none: str | None) -> dict[str, Any]:
    first, last = (to_second(job.runs[0]), to_second(job.runs[-1])) if job.runs else (none, none)
    return {"name": job.name, "runs": len(job.runs), "is_cut": job.is_cut, "first": first, "last": last}


def _as_table(found: Simulated) -> Iterator[str]:
    yield f"from {to_second(found.start)} until {to_second(found.until)}"
    yield ""
    if not found.jobs:
        yield "no jobs"
        return
    rows = [
        (job.name, f"{len(job.runs):,}{' and more' * job.is_cut}", *ends, str(len(job.changes) or "-"))
        for job in found.jobs
        for ends in [[*_ends(job, "-").values()][-2:]]
    ]
    yield table(("JOB", "RUNS", "FIRST", "LAST", "CLOCKS"), rows)
    if changes := [
        f"{local_text(row)}  {job.name}  {row.words}" for job in found.jobs for row in job.changes
    ]:
        yield "\nchanges of the clocks:"
        yield from changes
    if met := found.most_at_once():
        yield f"\nmost at once: {len(met[1])} jobs, first at {to_second(met[0])}: {', '.join(met[1])}"


_SHOWN = 5
_MARKS = {"added": "+", "removed": "-", "changed": "~"}


def run_diff(arguments: argparse.Namespace) -> int:
    """Print the differences; return 0 whether or not there are any."""
    start = SystemClock().now() if arguments.start is None else datetime.fromisoformat(arguments.start)
    if arguments.length <= timedelta(0):
        raise BadUsage("--for takes a span above zero, such as 90d")
    until = start + arguments.length
    if arguments.tzdata and arguments.against:
        raise BadUsage("--tzdata compares an app with itself; leave --against out")
    found = _found(arguments, start, until)
    lines = _as_markdown(found, start, until) if arguments.written_as else _diff_text(found, start, until)
    return print_either(arguments, _diff_json(found, start, until), lambda: "\n".join(lines))


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
        raise OperationFailed(f"the runs under {folder} are not known: {found.stderr.strip()[-400:]}")
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


def _diff_text(found: Sequence[JobDifference], start: datetime, until: datetime) -> Iterator[str]:
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


def _diff_json(found: Sequence[JobDifference], start: datetime, until: datetime) -> dict[str, Any]:
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
