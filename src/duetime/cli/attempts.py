"""``duetime actions tracebacks`` and ``log``: why attempts failed, and what their worker logged."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from datetime import datetime

from duetime.cli.arguments import Commands, add_command, client_of
from duetime.cli.client import Client, Json
from duetime.cli.output import print_content
from duetime.cli.tables import plain
from duetime.cli.times import both

_FAILED = {"failed", "retry"}
"""The outcomes of attempts that may have a traceback."""


def add_commands(verbs: Commands) -> None:
    """Add both commands."""
    parser = add_command(verbs, "tracebacks", tracebacks, "print the tracebacks of failed attempts")
    parser.add_argument("id", metavar="ID", help="the action's id")
    parser = add_command(verbs, "log", log, "print what the worker logged about one attempt")
    parser.add_argument("id", metavar="ID", help="the action's id")
    parser.add_argument("--attempt", metavar="N", type=int, help="its number; by default the latest")


def tracebacks(arguments: argparse.Namespace) -> int:
    """Print the tracebacks of one action."""
    found = client_of(arguments).ask("GET", "actions", arguments.id, "tracebacks")
    return print_content(arguments, found, _tracebacks)


def _tracebacks(found: Json, now: datetime) -> str:
    texts = (
        f"attempt {one['number']}, {both(one['started_at'], now)}\n\n{_printable(one['text'])}"
        for one in found["items"]
    )
    return "\n\n".join(texts) or "no attempt has a traceback"


def _printable(text: str) -> str:
    return "\n".join(map(plain, text.splitlines()))


def latest_traceback(client: Client, action: Json) -> str:
    """Return the traceback of the action's last attempt if that failed, as text below the action."""
    runs = action["attempts"]
    if not runs or runs[-1]["outcome"] not in _FAILED:
        return ""
    items = client.ask("GET", "actions", action["id"], "tracebacks")["items"]
    texts = [one["text"] for one in items if one["started_at"] == runs[-1]["started_at"]]
    return f"\n\n{_printable(texts[0])}" if texts else ""


def log(arguments: argparse.Namespace) -> int:
    """Print the lines of one attempt."""
    query = {"attempt": None if arguments.attempt is None else str(arguments.attempt)}
    found = client_of(arguments).ask("GET", "actions", arguments.id, "log", query=query)
    return print_content(arguments, found, _log)


def _log(found: Json, _now: datetime) -> str:
    return "\n".join(_lines(found))


def _lines(found: Json) -> Iterator[str]:
    if found["attempt"] is None:
        yield "no run has begun"
        return
    yield f"attempt {found['attempt']}" + (f", trace {found['trace_url']}" if found["trace_url"] else "")
    for line in found["items"]:
        yield f"{line['at']}  {line['level']:8} {plain(line['message'])}"
        if line["exception"]:
            yield from (f"    {plain(part)}" for part in line["exception"].splitlines())
    if not found["items"]:
        yield "no lines of it are in the log, which may come a few seconds late"
    if not found["is_complete"]:
        yield "more lines exist; the log group of its worker has them"
