"""``duetime access audit``, ``grants`` and ``whoami``: the trail of changes, and who may do what."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from datetime import datetime

from duetime.cli.action_text import tenant
from duetime.cli.arguments import Commands, add_command, add_group, add_page, client_of
from duetime.cli.client import Json
from duetime.cli.output import print_content, print_list
from duetime.cli.tables import facts, plain, table
from duetime.cli.times import both
from duetime.errors import truncate

PATH = "grants"
"""The API's path of grants."""

LONGEST = 60
"""Characters of a change's request; the JSON has all of it."""


def add_parser(commands: Commands) -> None:
    """Add the three commands."""
    parser = add_command(commands, "audit", audit, "which caller requested which change, the latest first")
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--action", metavar="ID", help="only changes of this action")
    choice.add_argument("--job", metavar="NAME", help="only changes of this job")
    add_page(parser)
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


def audit(arguments: argparse.Namespace) -> int:
    """List a page of the trail."""
    filters = {"action": arguments.action, "job": arguments.job}
    return print_list(arguments, ["audit"], "access audit", _changes, empty="no changes", filters=filters)


def _changes(entries: Sequence[Json], now: datetime) -> str:
    rows = [
        [
            both(entry["asked_at"], now),
            entry["by"],
            entry["operation"],
            entry["target"],
            "not known" if entry["status"] is None else str(entry["status"]),
            truncate(json.dumps(entry["asked"], ensure_ascii=False), LONGEST) if entry["asked"] else "",
        ]
        for entry in entries
    ]
    return table(["AT", "BY", "CHANGE", "OF", "STATUS", "REQUEST"], rows)


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
            "roles": ", ".join(me["roles"]) or "none",
            "permissions": ", ".join(me["permissions"]) or "none",
            "scheduler": client.url,
        }
        return facts(plain(me["actor"]), values.items())

    return print_content(arguments, client.ask("GET", "me"), describe)
