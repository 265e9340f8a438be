"""The commands of notifications with work of their own: mark some as read, and choose recipients."""

from __future__ import annotations

import argparse

from duetime.cli.arguments import NONE, fields_of
from duetime.cli.client import client_of
from duetime.cli.failures import BadUsage
from duetime.cli.output import print_content
from duetime.cli.texts import preferences

_PATH = "notifications"


def read(arguments: argparse.Namespace) -> int:
    """Mark some as read, or all. All ids are looked up first: one wrong id changes nothing."""
    if arguments.all == bool(arguments.ids):
        raise BadUsage("give either the ids of those that were read, or --all")
    if arguments.ids and arguments.kind:
        raise BadUsage("--kind goes with --all")
    client, scope = client_of(arguments), fields_of(arguments, ("scope",))
    count = len(arguments.ids)
    for one in arguments.ids:
        client.ask("GET", _PATH, one, query=scope)
    for one in arguments.ids:
        client.ask("POST", _PATH, one, "read", query=scope)
    if arguments.all:
        steps = client.steps(_PATH, "read", query=scope, body=fields_of(arguments, ("kind",)))
        count = sum(step["read"] for step in steps)
    message = f"marked {count} as read" if count else "nothing was unread"
    return print_content(arguments, {"read": count}, lambda *_: message)


def choose(arguments: argparse.Namespace) -> int:
    """Change the recipients, the channels and the language."""
    values = {
        "language": arguments.language,
        "addresses": _addresses(arguments.email),
        "admin_addresses": _addresses(arguments.admin_email),
        "channels": dict(arguments.channel) if arguments.channel else None,
    }
    body = {name: value for name, value in values.items() if value is not None}
    if not body:
        raise BadUsage("nothing to set; give --language, --email, --admin-email or --channel")
    query = fields_of(arguments, ("scope",))
    chosen = client_of(arguments).ask("PUT", _PATH, "preferences", query=query, body=body)
    return print_content(arguments, chosen, preferences)


def _addresses(values: list[str] | None) -> list[str] | None:
    if values is None or NONE not in values:
        return values
    if len(values) > 1:
        raise BadUsage(f"{NONE!r} removes all; leave it out, or the addresses beside it")
    return []
