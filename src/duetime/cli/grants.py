"""``duetime grants``: the permissions of a tenant's roles beside those of the deployment's settings."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from duetime.cli.arguments import Commands, add_connection, client_of, print_json
from duetime.cli.tables import plain, table
from duetime.cli.times import both
from duetime.clock import SystemClock

Run = Callable[[argparse.Namespace], int]

PATH = "grants"
"""The API's path of grants."""


def add_parser(commands: Commands) -> None:
    """Add the command and its own commands."""
    parser = commands.add_parser("grants", help="look at what was granted to roles, grant, and take back")
    verbs = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add(verbs, "list", list_all, "list what was granted at run time, role by role")
    one = _add(verbs, "grant", grant, "grant a role permissions, in place of what was granted to it before")
    _add_role(one)
    one.add_argument(
        "permissions", metavar="PERMISSION", nargs="+", help="such as actions:manage or jobs:read"
    )
    _add_role(_add(verbs, "revoke", revoke, "take back all that was granted to a role"))


def _add(verbs: Commands, name: str, run: Run, help_text: str) -> argparse.ArgumentParser:
    parser = verbs.add_parser(name, help=help_text)
    add_connection(parser)
    parser.set_defaults(run=run)
    return parser


def _add_role(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("role", metavar="ROLE", type=_role, help="the role: a group of the user pool")


def _role(written: str) -> str:
    if not written:
        raise argparse.ArgumentTypeError("it is empty; `duetime grants list` shows the roles")
    return written


def list_all(arguments: argparse.Namespace) -> int:
    """List the grants of the tenant."""
    granted = client_of(arguments).ask("GET", PATH)
    if arguments.json:
        print_json(granted)
        return 0
    now = SystemClock().now()
    rows = [
        [item["role"], ", ".join(item["permissions"]), item["granted_by"], both(item["granted_at"], now)]
        for item in granted["items"]
    ]
    print(table(["ROLE", "PERMISSIONS", "BY", "GRANTED"], rows) if rows else "no grants")
    return 0


def grant(arguments: argparse.Namespace) -> int:
    """Grant one role permissions."""
    body = {"permissions": arguments.permissions}
    granted = client_of(arguments).ask("PUT", PATH, arguments.role, body=body)
    if arguments.json:
        print_json(granted)
    else:
        print(
            f"granted {plain(granted['role'])}: {', '.join(granted['permissions'])};"
            " it holds within ten seconds"
        )
    return 0


def revoke(arguments: argparse.Namespace) -> int:
    """Take back what was granted to one role."""
    client_of(arguments).send("DELETE", PATH, arguments.role)
    if arguments.json:
        print_json({"role": arguments.role})
    else:
        print(f"revoked what was granted to {plain(arguments.role)}; its settings stay as they are")
    return 0
