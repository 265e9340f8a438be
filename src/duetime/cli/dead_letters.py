"""``duetime dead-letters``: the actions that failed for good, listed and redriven."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from duetime.cli.actions import REDRIVE, add_ids, add_page
from duetime.cli.arguments import Commands, add_connection, client_of, pasted, print_json
from duetime.cli.filters import add_filters, as_options, filters_of
from duetime.cli.follow import add_follow
from duetime.cli.many import add_many, change
from duetime.cli.screen import add_watch
from duetime.cli.tables import table
from duetime.cli.times import both
from duetime.clock import SystemClock
from duetime.errors import truncate

LONGEST_REASON = 100
"""Characters; `duetime actions show` prints all."""


def add_parser(commands: Commands) -> None:
    """Add the command and its own commands."""
    parser = commands.add_parser("dead-letters", help="look at what failed, and run it again")
    verbs = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_list(verbs)
    _add_redrive(verbs)


def _add_list(verbs: Commands) -> None:
    parser = verbs.add_parser("list", help="list what failed, runs of jobs too: the latest failure first")
    add_filters(parser, has_status=False)
    add_page(parser)
    add_watch(parser, list_all)


def _add_redrive(verbs: Commands) -> None:
    parser = verbs.add_parser("redrive", help="run failed ones again, at once")
    add_ids(parser)
    add_filters(parser, has_status=False)
    parser.add_argument("--all", action="store_true", help="all of them, if no filter is given")
    add_many(parser)
    add_follow(parser)
    add_connection(parser)
    parser.set_defaults(run=redrive)


def list_all(arguments: argparse.Namespace) -> int:
    """List a page of failed actions."""
    filters, limit = filters_of(arguments), str(arguments.limit)
    query = {**filters, "limit": limit, "cursor": arguments.cursor}
    page = client_of(arguments).ask("GET", "dead-letters", query=query)
    if arguments.json:
        print_json(page)
        return 0
    print(_listed(page["items"], SystemClock().now()) if page["items"] else "no dead letters")
    if page["next_cursor"]:
        given = {**as_options(filters), "--limit": limit, "--cursor": page["next_cursor"]}
        print(f"more: duetime dead-letters list {pasted(arguments, given)}")
    return 0


def redrive(arguments: argparse.Namespace) -> int:
    """Run failed actions again."""
    filters = filters_of(arguments)
    return change(arguments, REDRIVE, {"status": "failed"} if arguments.all and not filters else filters)


def _listed(actions: Sequence[Mapping[str, Any]], now: datetime) -> str:
    rows = [
        [
            action["id"],
            both(
                (action["attempts"][-1] if action["attempts"] else {}).get("finished_at") or action["due_at"],
                now,
            ),
            action["job"] or action["type"],
            str(action["attempts"][-1]["number"] if action["attempts"] else 0),
            truncate(action["failure_reason"] or "-", LONGEST_REASON),
        ]
        for action in actions
    ]
    return table(["ID", "FAILED", "TYPE OR JOB", "ATTEMPTS", "REASON"], rows)
