"""``duetime tenants export`` and ``erase``: all that a deployment stores of one tenant.

They use the operator's AWS credentials, not the API, since no function may read or delete all of it.
"""

from __future__ import annotations

import argparse
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from duetime.cli.arguments import Commands, seconds
from duetime.cli.failures import BadUsage
from duetime.cli.operator_name import operator
from duetime.cli.output import print_json
from duetime.cli.progress import ProgressBar
from duetime.cli.tables import facts, plain, table

if TYPE_CHECKING:  # imported when it runs: `duetime --help` must be quick
    from duetime.settings import Settings
    from duetime.tenant_data.report import Report

_LONGEST_REASON = 500


def add_commands(verbs: Commands) -> None:
    """Add the commands to the group of tenants."""
    parser = _add(verbs, "export", export, "write all that is stored of a tenant to a directory")
    parser.add_argument(
        "--to",
        required=True,
        type=Path,
        metavar="DIR",
        help="a new directory, or an unfinished export",
    )
    parser = _add(
        verbs,
        "erase",
        erase,
        "stop a tenant's work, and delete all that is stored of it",
        "Without --confirm, print what would be erased. With it, remove the jobs, cancel the actions"
        " and delete the items of the tenant; exit status 1: a repeat is needed.",
    )
    add = parser.add_argument
    add("--reason", required=True, help="why, for the audit entry")
    add("--confirm", action="store_true", help="erase; nothing brings it back")
    add("--keep-audit", action="store_true", help="leave the tenant's audit trail until its retention ends")
    add(
        "--wait",
        type=seconds,
        default=60.0,
        metavar="SPAN",
        help="how long to wait for running actions (default: 60s)",
    )


def _add(
    verbs: Commands, name: str, run: object, help_text: str, description: str | None = None
) -> argparse.ArgumentParser:
    parser = verbs.add_parser(name, help=help_text, description=description)
    parser.add_argument("name", metavar="TENANT", help="the tenant, such as acme")
    parser.add_argument("--prefix", default="duetime-", help="the deployment's prefix (default: duetime-)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)
    return parser


def export(arguments: argparse.Namespace) -> int:
    """Export a tenant."""
    from duetime.clock import SystemClock  # noqa: PLC0415 - as above
    from duetime.tenant_data.export import Export  # noqa: PLC0415 - as above

    step = Export(_deployed(arguments), SystemClock(), arguments.name, arguments.to, by=operator())
    with ProgressBar("export") as bar:
        report = step(bar.note)
    return _print(arguments, report, f"{plain(arguments.name)} exported to {arguments.to}")


def erase(arguments: argparse.Namespace) -> int:
    """Erase a tenant, or print what would be erased."""
    from duetime.clock import SystemClock  # noqa: PLC0415 - as above
    from duetime.tenant_data.erase import Erase  # noqa: PLC0415 - as above

    reason = arguments.reason.strip()
    if not 1 <= len(reason) <= _LONGEST_REASON:
        raise BadUsage(f"--reason has {len(reason)} characters; allowed are 1 to {_LONGEST_REASON}")
    step = Erase(
        _deployed(arguments),
        SystemClock(),
        arguments.name,
        by=operator(),
        reason=reason,
        keep_audit=arguments.keep_audit,
        wait=timedelta(seconds=arguments.wait),
    )
    name = plain(arguments.name)
    if not arguments.confirm:
        report = step.preview()
        return _print(arguments, report, f"{name} would be erased; nothing has changed: add --confirm")
    with ProgressBar("erase") as bar:
        report = step(bar.note)
    words = "is erased" if report.is_complete else "is not erased completely"
    return _print(arguments, report, f"{name} {words}") or int(not report.is_complete)


def _print(arguments: argparse.Namespace, report: Report, head: str) -> int:
    if arguments.json:
        print_json(report.to_json())
        return 0
    lines = [*report.stopped.items(), *([("audit entry", report.entry_id)] if report.entry_id else [])]
    counts = [[kind, str(count)] for kind, count in sorted(report.items.items())]
    parts = [
        facts(head, lines),
        table(["KIND", "ITEMS"], counts) if counts else "nothing is stored",
        "\n".join(["not included:", *(f"  {line}" for line in report.left)]),
    ]
    print("\n\n".join(parts))
    return 0


def _deployed(arguments: argparse.Namespace) -> Settings:
    from duetime.aws.function_logs import settings_of_deployment  # noqa: PLC0415 - as above

    return settings_of_deployment(arguments.prefix)
