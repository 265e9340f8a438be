"""``duetime deployment failover``: makes a standby region active, or compares what both regions stored.

It uses AWS credentials of its own, not the API: the API of a region that failed does not answer.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from duetime.cli.arguments import Commands
from duetime.cli.failures import BadUsage
from duetime.cli.operator_name import operator
from duetime.cli.output import print_json
from duetime.cli.pager import print_long
from duetime.cli.tables import facts, table

if TYPE_CHECKING:  # imported when it runs: `duetime --help` must be quick
    from collections.abc import Sequence

    from duetime.model.action import Action
    from duetime.settings import Settings
    from duetime.standby.run_failover import FailoverReport, RunFailover

_SHOWN = 50


def add_parser(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "failover",
        help="make a standby region active, or compare both regions",
        description="Move the epoch, so that no region claims; wait until no lease of the former region can"
        " be live; activate the target; then make schedules, timers and messages from its rows.",
    )
    add = parser.add_argument
    add("--to", required=True, metavar="REGION", help="the region that becomes active, such as eu-west-1")
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--dry-run", action="store_true", help="check the target, and change nothing")
    choice.add_argument(
        "--reconcile", action="store_true", help="the region is active: only make its wakes again"
    )
    choice.add_argument(
        "--compare", metavar="REGION", help="list what only this former region has, and what ran in both"
    )
    add("--yes", action="store_true", help="skip the confirmation")
    add(
        "--regions-table",
        default="",
        metavar="TABLE",
        help="the table of the active region, before a deploy sets regions_table",
    )
    add("--prefix", default="duetime-", help="the deployment's prefix (default: duetime-)")
    add("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from duetime.aws import clients  # noqa: PLC0415 - as above

    clients.use_region(arguments.to)
    deployed = _deployed(arguments)
    settings = replace(deployed, regions_table=arguments.regions_table or deployed.regions_table)
    if arguments.compare:
        return _compare(arguments, settings)
    step = _failover(arguments, settings, is_fenced=bool(deployed.regions_table))
    if arguments.dry_run:
        return _print(arguments, step.preview())
    if arguments.reconcile:
        return _print(arguments, step.reconcile())
    if not arguments.yes and not _confirmed(arguments, step):
        return 1
    return _print(arguments, step())


def _deployed(arguments: argparse.Namespace) -> Settings:
    from duetime.aws.function_logs import settings_of_deployment  # noqa: PLC0415 - as above

    return settings_of_deployment(arguments.prefix)


def _failover(arguments: argparse.Namespace, settings: Settings, *, is_fenced: bool) -> RunFailover:
    from duetime.clock import SystemClock  # noqa: PLC0415 - as above
    from duetime.standby.run_failover import RunFailover  # noqa: PLC0415 - as above

    return RunFailover(
        target=arguments.to,
        settings=settings,
        clock=SystemClock(),
        by=operator(),
        is_fenced=is_fenced,
        note=lambda line: print(line, file=sys.stderr, flush=True),
    )


def _confirmed(arguments: argparse.Namespace, step: RunFailover) -> bool:
    if not sys.stdin.isatty():
        raise BadUsage("there is no terminal for the confirmation: look with --dry-run, then use --yes")
    print(_as_text(step.preview()), file=sys.stderr)
    print(f"make {arguments.to} active? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _print(arguments: argparse.Namespace, report: FailoverReport) -> int:
    if arguments.json:
        print_json(report.to_json())
    else:
        print_long(_as_text(report))
    return int(bool(report.reconciled and report.reconciled.failed))


def _as_text(report: FailoverReport) -> str:
    before, swept = report.before, report.last_sweep_at
    lines = [
        ("active before", (before and before.region) or "no region"),
        ("epoch", str(_epoch(report))),
        ("no region claims for", f"{report.quiet_time.total_seconds():g} s"),
        ("last replicated sweep", f"{swept:%Y-%m-%dT%H:%M:%SZ}; what was written later may be missing")
        if swept
        else ("last replicated sweep", "unknown"),
    ]
    if (done := report.reconciled) is None:
        return facts(f"{report.target} would become active; nothing has changed", lines)
    missing = [[ref.tenant_id, ref.name, str(len(times))] for ref, times in sorted(done.missing.items())]
    lines += [
        ("actions with a new wake", str(done.armed)),
        ("runs to take over", str(done.sent)),
        ("jobs maintained", str(done.jobs)),
        ("jobs left for the sweep", ", ".join(ref.name for ref in done.failed) or "none"),
        ("audit entry", report.entry_id or "-"),
    ]
    parts = [facts(f"{report.target} is active", lines)]
    if missing:
        parts.append(table(["TENANT", "JOB", "TIMES WITHOUT A ROW, PLANNED AGAIN"], missing))
    return "\n\n".join(parts)


def _epoch(report: FailoverReport) -> int:
    item = report.after or report.before
    return item.epoch if item else 0


def _compare(arguments: argparse.Namespace, settings: Settings) -> int:
    from duetime.aws import clients  # noqa: PLC0415 - as above
    from duetime.aws.backends import action_store  # noqa: PLC0415 - as above
    from duetime.standby.compare import all_rows, compare  # noqa: PLC0415 - as above

    former = clients.dynamodb(region=arguments.compare)
    found = compare(all_rows(former, settings.made.actions_table), action_store(settings))
    if arguments.json:
        print_json(found.to_json())
        return 0
    parts = [
        _listed(f"only in {arguments.compare}: {len(found.missing)}", found.missing),
        _listed(f"began in both regions: {len(found.twice)}", found.twice),
    ]
    print_long("\n\n".join(parts))
    return 0


def _listed(title: str, rows: Sequence[Action]) -> str:
    if not rows:
        return title
    cells = [
        [row.tenant_id, row.id, row.type, row.status.value, f"{row.due_at:%Y-%m-%dT%H:%M:%SZ}"]
        for row in rows[:_SHOWN]
    ]
    more = f"\nand {len(rows) - _SHOWN} more; --json has all" if len(rows) > _SHOWN else ""
    return f"{title}\n{table(['TENANT', 'ID', 'TYPE', 'STATUS', 'DUE'], cells)}{more}"
