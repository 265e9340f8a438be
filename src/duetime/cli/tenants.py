"""``duetime tenants``: export and erase tenants."""

from __future__ import annotations

from duetime.cli import tenant_data
from duetime.cli.arguments import Commands, add_group


def add_parser(commands: Commands) -> None:
    """Add the group and its commands."""
    verbs = add_group(commands, "tenants", "export and erase tenants, for operators of the deployment")
    tenant_data.add_commands(verbs)
