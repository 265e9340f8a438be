"""``duetime jobs``: versions and roll-back, and ``jobs register --dry-run``."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from duetime._english import counted, plural
from duetime.cli.arguments import JOBS, Commands, add_command, add_job, client_of
from duetime.cli.client import Client, Json
from duetime.cli.failures import BadUsage
from duetime.cli.job_text import after_in_words, words
from duetime.cli.output import print_content, print_json, print_next
from duetime.cli.tables import facts, plain, table
from duetime.cli.times import both

_LONGEST = 60
_SHOWN_RUNS = 5


def add_parsers(verbs: Commands) -> None:
    """Add the commands of former definitions."""
    help_text = "list its definitions, the present one first, with what each changed"
    parser = add_command(verbs, "versions", versions, help_text)
    add_job(parser)
    parser.add_argument("id", metavar="ID", nargs="?", help="show only this one, such as 3")
    parser.add_argument("--against", metavar="ID", help="with ID: what differs from this definition")
    help_text = "let a former definition of your job come into force again"
    parser = add_command(verbs, "roll-back", roll_back, help_text)
    add_job(parser)
    parser.add_argument("id", metavar="ID", help="the definition's id in `duetime jobs versions`")


def versions(arguments: argparse.Namespace) -> int:
    """List the definitions of one job, or show one."""
    client = client_of(arguments)
    if arguments.id is None:
        if arguments.against is not None:
            raise BadUsage(f"--against compares one definition; use `jobs versions {arguments.name} ID`")
        found = client.ask("GET", JOBS, arguments.name, "definitions")
        return print_content(arguments, found, lambda page, now: _listed(page["items"], now))
    query = {"against": arguments.against}
    one = client.ask("GET", JOBS, arguments.name, "definitions", arguments.id, query=query)
    return print_content(arguments, one, _in_full)


def roll_back(arguments: argparse.Namespace) -> int:
    """Roll one job back, unless it changes after this command has read it."""
    client, body = client_of(arguments), {"definition": arguments.id}
    etag = client.answer("GET", JOBS, arguments.name).etag
    job = client.ask("POST", JOBS, arguments.name, "roll-back", body=body, etag=etag)
    if arguments.json:
        print_json(job)
        return 0
    print(f"rolled back {job['name']} to {arguments.id}: {words(job)}; version {job['version']}")
    print_next(arguments, "jobs", "show", job["name"])
    return 0


def preview(arguments: argparse.Namespace, client: Client, body: Json) -> int:
    """Print what a registration would do; return 1 if it would be rejected."""
    draft = client.ask("POST", JOBS, "draft", body=body)
    print_content(arguments, draft, _drafted)
    return 1 if draft["problems"] else 0


def _listed(items: Sequence[Json], now: datetime) -> str:
    rows = [
        [
            stored["id"],
            both(stored["since"], now),
            plain(stored["by"] or "-"),
            "; ".join(map(_change, stored["changes"])) or "-",
        ]
        for stored in items
    ]
    return table(["ID", "SINCE", "BY", "CHANGES"], rows)


def _in_full(stored: Json, now: datetime) -> str:
    until = f", until {both(stored['until'], now)}" if stored["until"] else ", in force"
    head = f"{stored['id']}  since {both(stored['since'], now)}{until}"
    hidden = {"redacted"}
    fields = ((name, _value(value)) for name, value in stored["definition"].items() if name not in hidden)
    lines = [facts(head, fields)]
    if stored["changes"]:
        lines += ["", _changes(stored["changes"])]
    return "\n".join(lines)


def _changes(changes: Sequence[Json]) -> str:
    rows = [[entry["field"], _value(entry["before"]), _value(entry["after"])] for entry in changes]
    return table(["FIELD", "BEFORE", "AFTER"], rows)


def _change(entry: Json) -> str:
    return f"{entry['field']}: {_value(entry['before'])} → {_value(entry['after'])}"


def _value(value: Any) -> str:
    if value is None or value in ("", []):
        return "-"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return plain(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…")


def _drafted(draft: Json, now: datetime) -> str:
    return "\n".join(_draft_lines(draft, now))


def _draft_lines(draft: Json, now: datetime) -> Iterator[str]:
    done = "be registered" if draft["is_new"] else f"be replaced, as version {draft['version']}"
    yield f"{draft['name']} would {'be rejected' if draft['problems'] else done}; nothing was changed"
    yield from (f"problem: {plain(problem)}" for problem in draft["problems"])
    if draft["changes"]:
        yield from ("", _changes(draft["changes"]))
    for cadence in draft["cadences"]:
        yield from ("", f"{cadence['text']}: {plain(cadence['words'])}")
        for row in cadence["next_runs"][:_SHOWN_RUNS]:
            note = f"  {plain(row['note'])}" if row["note"] else ""
            yield f"  {row['local'].replace('T', ' ')} {cadence['tz']}{note}"
        clocks = (f"{row['local'][:10]} {row['note']}" for row in cadence["changes"])
        notes = (*cadence["notes"], *cadence["disagreements"], *clocks)
        yield from (f"  note: {plain(note)}" for note in notes)
    if after := draft["definition"]["after"]:
        yield from ("", f"after: {after_in_words(after, draft['definition']['after_timeout'])}")
    yield ""
    if draft["runs_per_day"] is not None:
        dollars = draft["dollars_per_month"]
        number = f"{draft['runs_per_day']:.3g}"
        often = f"{number} {plural(float(number), 'run')} a day"
        price = f"{dollars:,.2f}" if dollars >= 1 else f"{dollars:.4f}"
        yield f"{often}, about ${price} a month without the handler's own calls"
    for load in draft["load"][:_SHOWN_RUNS]:
        runs = counted(load["runs"], "run")
        yield f"{both(load['at'], now)}: {runs} of other jobs ({', '.join(load['jobs'])})"
