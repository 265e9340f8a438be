"""``duetime app check``: lists an app's jobs and types, the next due times, and problems."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from duetime._english import counted, plural
from duetime.app import App
from duetime.check import JobReport, Report, report
from duetime.cli.failures import BadUsage
from duetime.cli.loading import app_at
from duetime.cli.output import print_either
from duetime.cli.tables import plain, table
from duetime.clock import SystemClock
from duetime.simulate import SPAN, Storm, storms


def run(arguments: argparse.Namespace) -> int:
    """Print the report; return 1 if there is a problem."""
    app = app_at(arguments.app)
    found = report(app)
    crowds = None if arguments.storm is None else _storms(app, arguments.storm)
    content, lines = _as_json(found), [_as_text(found)]
    if crowds is not None:
        content["storms"] = [*map(_storm_as_json, crowds)]
        lines += ["", *_storms_as_text(crowds, arguments.storm)]
    return print_either(arguments, content, lambda: "\n".join(lines)) or int(bool(found.problems))


def _storms(app: App, capacity: int) -> list[Storm]:
    if capacity < 1:
        raise BadUsage(f"--storm is {capacity}; allowed is a number of runs from 1 on")
    now = SystemClock().now()
    return storms(app, now, now + SPAN, capacity)


def _storms_as_text(crowds: list[Storm], capacity: int) -> Iterator[str]:
    if not crowds:
        yield f"no minute of the next week has more than {counted(capacity, 'job')}"
    for storm in crowds:
        also = (
            f", and in {storm.times - 1:,} other {plural(storm.times - 1, 'minute')}"
            if storm.times > 1
            else ""
        )
        yield f"storm: {counted(len(storm.jobs), 'job')} begin at {storm.at:%Y-%m-%dT%H:%MZ}{also}"
        if storm.moves:
            yield table(("JOB", "NOW", "SPREAD"), [(move.job, move.old, move.new) for move in storm.moves])


def _storm_as_json(storm: Storm) -> dict[str, Any]:
    return {
        "at": f"{storm.at:%Y-%m-%dT%H:%M:%SZ}",
        "jobs": [*storm.jobs],
        "times": storm.times,
        "moves": [{"job": move.job, "old": move.old, "new": move.new} for move in storm.moves],
    }


def _as_text(report: Report) -> str:
    parts = []
    if report.jobs:
        heads: tuple[str, ...] = ("JOB", "CADENCES", "NEXT RUN", "OVERLAP")
        rows = [_row(job) for job in report.jobs]
        if any(job.deadline for job in report.jobs):
            heads = (*heads, "DEADLINE")
            rows = [(*row, job.deadline or "-") for row, job in zip(rows, report.jobs, strict=True)]
        parts.append(table(heads, rows))
    if report.types:
        rows = [(type_.name, f"version {type_.version}", type_.where) for type_ in report.types]
        parts.append(table(("TYPE", "PAYLOAD", "HANDLER"), rows))
    if report.resources:
        rows = [
            (resource.name, resource.where, ", ".join(resource.needed_by) or "-")
            for resource in report.resources
        ]
        parts.append(table(("RESOURCE", "MADE BY", "NEEDED BY"), rows))
    for kind, messages in (("note", report.notes), ("problem", report.problems)):
        if messages:
            parts.append("\n".join(f"{kind}: {plain(message)}" for message in messages))
    found = counted(len(report.problems), "problem") if report.problems else "no problems"
    jobs, types = counted(len(report.jobs), "job"), counted(len(report.types), "action")
    return "\n\n".join([*parts, f"{jobs}, {types}, {found}"])


def _row(job: JobReport) -> tuple[str, ...]:
    due = "-" if job.next is None else f"{job.next.at:%Y-%m-%dT%H:%M:%SZ}"
    return job.definition.name, "; ".join(job.cadences.values()) or "-", due, job.definition.overlap


def _as_json(report: Report) -> dict[str, Any]:
    return {
        "jobs": [
            {
                "name": job.definition.name,
                "handler": job.where,
                "cadences": [{"cadence": text, "description": words} for text, words in job.cadences.items()],
                "next": None if job.next is None else f"{job.next.at:%Y-%m-%dT%H:%M:%SZ}",
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
