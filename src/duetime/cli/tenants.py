"""``duetime tenants``: pause and resume tenants, list pauses and quotas; export and erase tenants."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from datetime import datetime

from duetime.cli import pauses, quotas, tenant_data
from duetime.cli.arguments import Commands, Run, add_command, add_group, client_of
from duetime.cli.client import Json
from duetime.cli.output import print_content
from duetime.cli.tables import table
from duetime.cli.times import both

PATH = "tenants"
"""The API's path of tenants."""


def add_parser(commands: Commands) -> None:
    """Add the group and its commands."""
    verbs = add_group(commands, PATH, "pause, export and erase tenants, for operators of the deployment")
    parser = _add_one(verbs, "pause", pause, "begin no run of a tenant from now on; its actions wait")
    pauses.add_terms(parser)
    _add_one(verbs, "resume", resume, "end all pauses of a tenant")
    add_command(verbs, "list", list_pauses, "list the paused tenants")
    quotas.add_parser(verbs)
    tenant_data.add_commands(verbs)


def _add_one(verbs: Commands, name: str, run: Run, help_text: str) -> argparse.ArgumentParser:
    parser = add_command(verbs, name, run, help_text)
    parser.add_argument("name", metavar="TENANT", help="the tenant, such as acme")
    return parser


def pause(arguments: argparse.Namespace) -> int:
    """Pause one tenant, as `duetime pause` pauses other work."""
    return pauses.begin(arguments, pauses.TENANT, arguments.name)


def resume(arguments: argparse.Namespace) -> int:
    """End all pauses of one tenant."""
    return pauses.end(arguments, (pauses.TENANT, arguments.name))


def list_pauses(arguments: argparse.Namespace) -> int:
    """List the pauses in force."""
    return print_content(arguments, client_of(arguments).ask("GET", PATH, "pauses"), _listed)


def _listed(listed: Json, now: datetime) -> str:
    items: Sequence[Json] = listed["items"]
    rows = [
        [item["tenant"], both(item["since"], now), both(item["until"], now), item["by"], item["reason"]]
        for item in items
    ]
    return table(["TENANT", "SINCE", "UNTIL", "BY", "REASON"], rows) if rows else "no tenant is paused"
