"""``duetime whoami``: who one is to a scheduler, and what one may do there."""

from __future__ import annotations

import argparse

from duetime.cli.arguments import Commands, add_connection, client_of, print_json
from duetime.cli.tables import plain


def add_parser(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser("whoami", help="who you are to the scheduler, and what you may do")
    add_connection(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the caller."""
    client = client_of(arguments)
    me = client.ask("GET", "me")
    if arguments.json:
        print_json(me)
        return 0
    facts = {
        "tenant": me["tenant_id"],
        "roles": ", ".join(me["roles"]) or "none",
        "permissions": ", ".join(me["permissions"]) or "none",
        "scheduler": client.url,
    }
    print(
        "\n".join([plain(me["actor"]), *(f"  {name:<14}  {plain(value)}" for name, value in facts.items())])
    )
    return 0
