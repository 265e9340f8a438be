"""``duetime actions approve`` and ``reject``: decide about an action that waits for an approval."""

from __future__ import annotations

import argparse
from datetime import datetime
from functools import partial

from duetime.cli.arguments import Commands, Run, add_command, client_of
from duetime.cli.client import Json
from duetime.cli.output import print_content
from duetime.cli.tables import plain


def add_commands(verbs: Commands) -> None:
    """Add the two commands."""
    parser = _add(verbs, "approve", partial(decide, "approve"), "approve one that waits for an approval")
    parser.add_argument("--reason", default="", help="why, in at most 500 characters")
    parser = _add(verbs, "reject", partial(decide, "reject"), "reject one that waits for an approval")
    parser.add_argument("--reason", required=True, help="why, in at most 500 characters")


def _add(verbs: Commands, name: str, run: Run, help_text: str) -> argparse.ArgumentParser:
    parser = add_command(verbs, name, run, help_text)
    parser.add_argument("id", metavar="ID", help="the action's id")
    return parser


def decide(verb: str, arguments: argparse.Namespace) -> int:
    """Approve or reject one action."""
    path, body = ("actions", arguments.id, verb), {"reason": arguments.reason}
    return print_content(arguments, client_of(arguments).ask("POST", *path, body=body), _decided)


def _decided(action: Json, _now: datetime) -> str:
    return plain(f"{action['id']} is {action['status']}: {action['attempts'][-1]['message']}")
