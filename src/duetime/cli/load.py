"""``duetime jobs load``: in which minutes of the next week many jobs begin."""

from __future__ import annotations

import argparse
from datetime import datetime

from duetime._english import counted
from duetime.cli.arguments import JOBS, Commands, add_command, client_of
from duetime.cli.client import Json
from duetime.cli.output import print_content
from duetime.cli.tables import table
from duetime.cli.times import both

# The number of jobs that a row names.
_MOST_NAMES = 5


def add_parser(verbs: Commands) -> None:
    """Add the command to the group of jobs."""
    help_text = "list in which minutes of the next week the most jobs begin"
    parser = add_command(verbs, "load", load, help_text)
    parser.add_argument(
        "--capacity",
        metavar="N",
        type=int,
        help="how many jobs may begin in a minute (default: the deployment's worker_concurrency)",
    )


def load(arguments: argparse.Namespace) -> int:
    """List the fullest minutes of the next week."""
    query = {"capacity": None if arguments.capacity is None else str(arguments.capacity)}
    return print_content(arguments, client_of(arguments).ask("GET", JOBS, "load", query=query), _listed)


def _listed(found: Json, now: datetime) -> str:
    which = "all" if found["is_complete"] else "the first by name"
    heading = (
        f"{counted(found['jobs'], 'job')} ({which}) until {both(found['until'], now)};"
        f" capacity {found['capacity']} a minute; minutes with more: {found['minutes_over']}"
    )
    rows = [
        [both(crowd["at"], now), str(crowd["begin"]), str(crowd["over"]), str(crowd["times"]), _names(crowd)]
        for crowd in found["crowds"]
    ]
    heads = ["FIRST MINUTE", "JOBS", "OVER", "MINUTES", "NAMES"]
    return f"{heading}\n{table(heads, rows) if rows else 'no two jobs begin in the same minute'}"


def _names(crowd: Json) -> str:
    shown = crowd["jobs"][:_MOST_NAMES]
    others = crowd["begin"] - len(shown)
    return ", ".join(shown) + (f" and {others} more" if others else "")
