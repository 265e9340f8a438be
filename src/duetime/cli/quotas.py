"""``duetime tenants quotas``: what a tenant may have or cause, and what it uses."""

from __future__ import annotations

import argparse
from datetime import datetime

from duetime.cli.arguments import Commands, add_command, client_of
from duetime.cli.client import Json
from duetime.cli.output import print_content
from duetime.cli.tables import plain, table

PATH = "quotas"
"""The API's path of quotas."""


def add_parser(verbs: Commands) -> None:
    """Add the command to the group of tenants."""
    help_text = "list your tenant's quotas, or another one's, and what it uses"
    parser = add_command(verbs, "quotas", list_quotas, help_text)
    parser.add_argument("name", metavar="TENANT", nargs="?", help="the tenant, such as acme (default: yours)")


def list_quotas(arguments: argparse.Namespace) -> int:
    """List the quotas of a tenant."""
    path = [PATH] if arguments.name is None else ["tenants", arguments.name, PATH]
    return print_content(arguments, client_of(arguments).ask("GET", *path), _listed)


def _listed(quotas: Json, _now: datetime) -> str:
    rows = [
        [item["name"], "not counted" if item["used"] is None else str(item["used"]), str(item["limit"])]
        for item in quotas["items"]
    ]
    tenant = plain(quotas["tenant_id"])
    return (
        f"quotas of {tenant}\n{table(['QUOTA', 'USED', 'LIMIT'], rows)}"
        if rows
        else f"{tenant} has no quotas"
    )
