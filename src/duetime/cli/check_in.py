"""``duetime actions check-in``: report that work elsewhere ran, from a script or a crontab."""

from __future__ import annotations

import argparse
from datetime import datetime

from duetime.cli.arguments import Commands, add_command, client_of, seconds
from duetime.cli.client import Json
from duetime.cli.output import print_content
from duetime.cli.tables import plain
from duetime.cli.times import both


def add_commands(verbs: Commands) -> None:
    """Add the command to the group of actions."""
    parser = add_command(
        verbs, "check-in", check_in, "report that work elsewhere ran, and when it must report again"
    )
    parser.add_argument("name", metavar="NAME", help="what ran, such as backup")
    parser.add_argument(
        "--within",
        metavar="SPAN",
        type=seconds,
        required=True,
        help="how soon the next check-in must come: 1m to 366d; without it, an action fails",
    )


def check_in(arguments: argparse.Namespace) -> int:
    """Check in."""
    body = {"within": arguments.within}
    action = client_of(arguments).ask("PUT", "check-ins", arguments.name, body=body)

    def describe(action: Json, now: datetime) -> str:
        return f"{plain(arguments.name)} has checked in; the next one is due {both(action['due_at'], now)}"

    return print_content(arguments, action, describe)
