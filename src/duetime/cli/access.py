"""``duetime access grants`` and ``whoami``: who may do what; ``audit``."""

from __future__ import annotations

import argparse
from datetime import datetime

from duetime.cli import audit
from duetime.cli.action_text import tenant
from duetime.cli.arguments import Commands, add_command, add_group, client_of
from duetime.cli.client import Json
from duetime.cli.output import print_content
from duetime.cli.tables import facts, plain, table
from duetime.cli.times import both

PATH = "grants"
"""The API's path of grants."""


def add_parser(commands: Commands) -> None:
    """Add the commands."""
    audit.add_parser(commands)
    verbs = add_group(commands, "grants", "list what roles may do beside the settings, grant and revoke")
    add_command(verbs, "list", list_grants, "list what was granted at run time, role by role")
    for name, run, help_text in (
        ("grant", grant, "grant permissions to a role, in place of those granted before"),
        ("revoke", revoke, "revoke all that was granted to a role"),
    ):
        parser = add_command(verbs, name, run, help_text)
        parser.add_argument("role", metavar="ROLE", type=_role, help="the role: a group of the user pool")
        if run is grant:
            parser.add_argument(
                "permissions", metavar="PERMISSION", nargs="+", help="such as actions:manage or jobs:read"
            )
    add_command(commands, "whoami", whoami, "who you are to the scheduler, and what you may do")


def _role(written: str) -> str:
    if not written:
        raise argparse.ArgumentTypeError("it is empty; `duetime access grants list` shows the roles")
    return written


def list_grants(arguments: argparse.Namespace) -> int:
    """List the grants of the tenant."""
    return print_content(arguments, client_of(arguments).ask("GET", PATH), _grants)


def _grants(granted: Json, now: datetime) -> str:
    rows = [
        [item["role"], ", ".join(item["permissions"]), item["granted_by"], both(item["granted_at"], now)]
        for item in granted["items"]
    ]
    return table(["ROLE", "PERMISSIONS", "BY", "GRANTED"], rows) if rows else "no grants"


def grant(arguments: argparse.Namespace) -> int:
    """Grant permissions to one role."""
    body = {"permissions": arguments.permissions}
    granted = client_of(arguments).ask("PUT", PATH, arguments.role, body=body)
    permissions = ", ".join(granted["permissions"])
    message = f"granted {plain(granted['role'])}: {permissions}; it holds within ten seconds"
    return print_content(arguments, granted, lambda *_: message)


def revoke(arguments: argparse.Namespace) -> int:
    """Revoke what was granted to one role."""
    client_of(arguments).send("DELETE", PATH, arguments.role)
    message = f"revoked what was granted to {plain(arguments.role)}; its settings stay as they are"
    return print_content(arguments, {"role": arguments.role}, lambda *_: message)


def whoami(arguments: argparse.Namespace) -> int:
    """Print the caller."""
    client = client_of(arguments)

    def describe(me: Json, _now: datetime) -> str:
        values = {
            **dict(tenant(me)),
            "subject": me.get("subject") or "none",
            "roles": ", ".join(me["roles"]) or "none",
            "permissions": ", ".join(me["permissions"]) or "none",
            "scheduler": client.url,
        }
        return facts(plain(me["actor"]), values.items())

    return print_content(arguments, client.ask("GET", "me"), describe)
