"""``duetime access confirmations``: what waits for a second person; confirm or withdraw it."""

from __future__ import annotations

import argparse
from datetime import datetime
from typing import Any

from duetime.cli.arguments import Commands, add_command, add_group, client_of
from duetime.cli.client import Client, Json
from duetime.cli.output import print_content
from duetime.cli.tables import plain, table
from duetime.cli.times import both

PATH = "confirmations"
"""The API's path of confirmations."""


def add_parser(commands: Commands) -> None:
    """Add the group, and its commands."""
    verbs = add_group(
        commands, "confirmations", "list what waits for a second person, confirm or withdraw it"
    )
    add_command(verbs, "list", list_waiting, "list the changes that wait for a second person")
    for name, run, help_text in (
        ("show", show, "show one, with its request"),
        ("confirm", confirm, "make the change, as its second person"),
        ("withdraw", withdraw, "withdraw a request, so that it is not made"),
    ):
        parser = add_command(verbs, name, run, help_text)
        parser.add_argument("id", metavar="ID", help="the confirmation's id")


def list_waiting(arguments: argparse.Namespace) -> int:
    """List what waits."""
    return print_content(arguments, client_of(arguments).ask("GET", PATH), _listed)


def show(arguments: argparse.Namespace) -> int:
    """Show one confirmation."""
    return print_content(arguments, client_of(arguments).ask("GET", PATH, arguments.id), _in_full)


def confirm(arguments: argparse.Namespace) -> int:
    """Confirm one change, and make all its steps; return 1 if some actions were left."""
    done = _confirmed(client_of(arguments), arguments.id)
    print_content(arguments, done, _done)
    return 1 if done["left"] else 0


def _confirmed(client: Client, confirmation_id: str) -> Json:
    changed, left, body = 0, list[Json](), dict[str, Any]()
    while True:
        step = client.ask("POST", PATH, confirmation_id, "confirm", body=body)
        changed += step["changed"]
        left += step["left"]
        if step["next_cursor"] is None:
            return {**step, "changed": changed, "left": left}
        body = {"cursor": step["next_cursor"]}


def withdraw(arguments: argparse.Namespace) -> int:
    """Withdraw one request."""
    client_of(arguments).send("DELETE", PATH, arguments.id)
    message = f"withdrew {plain(arguments.id)}: nothing was changed"
    return print_content(arguments, {"id": arguments.id}, lambda *_: message)


def _listed(waiting: Json, now: datetime) -> str:
    rows = [
        [
            item["id"],
            item["operation"],
            _count(item),
            item["requested_by"],
            both(item["requested_at"], now),
            both(item["confirm_until"], now),
        ]
        for item in waiting["items"]
    ]
    heads = ["ID", "OPERATION", "ACTIONS", "REQUESTED BY", "REQUESTED", "UNTIL"]
    return table(heads, rows) if rows else "nothing waits for a second person"


def _in_full(item: Json, now: datetime) -> str:
    lines = [
        f"{item['id']}: {item['state']}" + (f", by {plain(item['ended_by'])}" if item["ended_by"] else ""),
        f"{item['operation']} {plain(item['path'])}",
        *(f"  {plain(name)}: {plain(value)}" for name, value in (item["body"] or {}).items()),
        f"actions {_count(item)}",
        f"requested {both(item['requested_at'], now)} by {plain(item['requested_by'])}",
        f"lapses {both(item['confirm_until'], now)}",
    ]
    return "\n".join(lines)


def _count(item: Json) -> str:
    if item["count"] is None:
        return "-"
    return f"{item['count']} or more" if item["more"] else str(item["count"])


def _done(done: Json, _now: datetime) -> str:
    lines = [f"confirmed {done['id']}: {done['operation']}, changed {done['changed']}"]
    lines += [f"left {action['id']}: {plain(action['reason'])}" for action in done["left"]]
    return "\n".join(lines)
