"""``duetime audit``: which caller requested which change, and the result."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from duetime.cli.actions import add_page
from duetime.cli.arguments import Commands, client_of, pasted, print_json
from duetime.cli.tables import table
from duetime.cli.times import both
from duetime.clock import SystemClock
from duetime.errors import truncate

LONGEST = 60
"""Characters of the request; the JSON has all of it."""


def add_parser(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser("audit", help="which caller requested which change, the latest first")
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--action", metavar="ID", help="only changes of this action")
    choice.add_argument("--job", metavar="NAME", help="only changes of this job")
    add_page(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """List a page of the trail."""
    about = {"action": arguments.action, "job": arguments.job}
    page = client_of(arguments).ask(
        "GET", "audit", query={**about, "limit": str(arguments.limit), "cursor": arguments.cursor}
    )
    if arguments.json:
        print_json(page)
        return 0
    print(_listed(page["items"], SystemClock().now()) if page["items"] else "no changes")
    if page["next_cursor"]:
        given = {f"--{name}": value for name, value in about.items()}
        given |= {"--limit": arguments.limit, "--cursor": page["next_cursor"]}
        print(f"more: duetime audit {pasted(arguments, given)}")
    return 0


def _listed(entries: Sequence[Mapping[str, Any]], now: datetime) -> str:
    rows = [
        [
            both(entry["asked_at"], now),
            entry["by"],
            entry["operation"],
            entry["target"],
            "not known" if entry["status"] is None else str(entry["status"]),
            truncate(json.dumps(entry["asked"], ensure_ascii=False), LONGEST) if entry["asked"] else "",
        ]
        for entry in entries
    ]
    return table(["ASKED", "BY", "CHANGE", "OF", "ANSWER", "WITH"], rows)
