"""``duetime actions approve`` and ``reject``: decide about an action that waits for an approval."""

from __future__ import annotations

import argparse
from datetime import datetime

from duetime.cli.arguments import Commands, Run, add_command, client_of
from duetime.cli.client import Json
from duetime.cli.output import print_content
from duetime.cli.tables import plain


def add_commands(verbs: Commands) -> None:
    """Add the two commands."""
    parser = _add(verbs, "approve", approve, "approve one that waits for an approval")
    parser.add_argument("--reason", default="", help="why, in at most 500 characters")
    parser = _add(verbs, "reject", reject, "reject one that waits for an approval")
    parser.add_argument("--reason", required=True, help="why, in at most 500 characters")


def _add(verbs: Commands, name: str, run: Run, help_text: str) -> argparse.ArgumentParser:
    parser = add_command(verbs, name, run, help_text)
    parser.add_argument("id", metavar="ID", help="the action's id")
    return parser


def approve(arguments: argparse.Namespace) -> int:
    """Approve one action."""
    return _decide(arguments, "approve")


def reject(arguments: argparse.Namespace) -> int:
    """Reject one action."""
    return _decide(arguments, "reject")


def _decide(arguments: argparse.Namespace, verb: str) -> int:
    body = {"reason": arguments.reason}
    answer = client_of(arguments).ask("POST", "actions", arguments.id, verb, body=body)
    return print_content(arguments, answer, _decided)


def _decided(action: Json, _now: datetime) -> str:
    return plain(f"{action['id']} is {action['status']}: {action['attempts'][-1]['message']}")
