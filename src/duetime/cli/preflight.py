"""``duetime deployment preflight``: compares a synthesised stack with the account, before ``cdk deploy``."""

from __future__ import annotations

import argparse
from pathlib import Path

from duetime.cli.arguments import Commands
from duetime.cli.output import print_json
from duetime.cli.progress import ProgressBar
from duetime.cli.tables import table


def add_parser(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "preflight",
        help="compare a stack with the account before a deploy: names, rights, quotas",
        description="Compare a synthesised stack with the account, before `cdk deploy`. It uses your AWS"
        " credentials and changes nothing. Exit status 1: the deploy would fail.",
    )
    parser.add_argument(
        "--assembly",
        metavar="DIRECTORY",
        type=Path,
        default=Path("cdk.out"),
        help="the output of `npx cdk synth` (default: cdk.out)",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the findings; return 1 if the deploy would fail."""
    from duetime.aws.account import Account  # noqa: PLC0415 - `duetime --help` must be quick
    from duetime.cli.assembly import read_assembly  # noqa: PLC0415 - as above
    from duetime.cli.preflight_findings import findings, is_ill  # noqa: PLC0415 - as above

    stacks, account = read_assembly(arguments.assembly), Account()
    with ProgressBar("compare with the account"):
        caller, region = account.identity(), account.region
        found = [finding for stack in stacks for finding in findings(account, stack)]
    fails = is_ill(found)
    if arguments.json:
        facts = [
            {"about": row.about, "state": row.state, "message": row.message, "remedy": row.remedy}
            for row in found
        ]
        where = {"account": caller.account, "region": region, "caller": caller.arn}
        print_json({**where, "findings": facts, "status": "ill" if fails else "ok"})
    else:
        names = ", ".join(stack.name for stack in stacks)
        print(f"{names} in the account {caller.account}, {region}, as {caller.arn}\n")
        rows = [[row.about, row.state, row.message, row.remedy or "-"] for row in found]
        print(table(["CHECK", "STATE", "FINDING", "REMEDY"], rows))
    return 1 if fails else 0
