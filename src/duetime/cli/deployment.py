"""Commands that use the operator's AWS credentials instead of the API: failover, export and erase of tenants.

The API of a region that failed does not answer, and no function may read or delete all of a tenant.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from duetime.aws import clients
from duetime.aws.account import Account
from duetime.aws.backends import action_store
from duetime.aws.function_logs import settings_of_deployment
from duetime.cli.failures import BadUsage
from duetime.cli.output import print_either
from duetime.cli.tables import facts, plain, section, table
from duetime.cli.terminal import ProgressBar
from duetime.cli.times import to_second
from duetime.clock import SystemClock
from duetime.ids import ACTOR_LIMIT, SEPARATOR
from duetime.model.action import Action
from duetime.settings import Settings
from duetime.standby.compare import all_rows, compare
from duetime.standby.run_failover import FailoverReport, RunFailover
from duetime.tenant_data.erase import Erase
from duetime.tenant_data.export import Export
from duetime.tenant_data.report import Report

_LONGEST_REASON = 500


def _operator() -> str:
    """Return the caller's name in AWS, such as ``assumed-role/Admin/ada``."""
    name = Account().identity().arn.rpartition(":")[2]
    return name.replace(SEPARATOR, "-")[:ACTOR_LIMIT]


def fail_over(arguments: argparse.Namespace) -> int:
    """Fail over, or compare both regions."""
    clients.use_region(arguments.to)
    deployed = settings_of_deployment(arguments.prefix)
    settings = replace(deployed, regions_table=arguments.regions_table or deployed.regions_table)
    if arguments.compare:
        return _compare(arguments, settings)
    step = _step(arguments, settings, is_fenced=bool(deployed.regions_table))
    if arguments.dry_run:
        return _print_failover(arguments, step.preview())
    if arguments.reconcile:
        return _print_failover(arguments, step.reconcile())
    if not arguments.yes and not _confirmed(arguments, step):
        return 1
    return _print_failover(arguments, step())


def _step(arguments: argparse.Namespace, settings: Settings, *, is_fenced: bool) -> RunFailover:
    return RunFailover(
        target=arguments.to,
        settings=settings,
        clock=SystemClock(),
        by=_operator(),
        is_fenced=is_fenced,
        note=lambda line: print(line, file=sys.stderr, flush=True),
    )


def _confirmed(arguments: argparse.Namespace, step: RunFailover) -> bool:
    if not sys.stdin.isatty():
        raise BadUsage("there is no terminal for the confirmation: look with --dry-run, then use --yes")
    print(_failover_text(step.preview()), file=sys.stderr)
    print(f"make {arguments.to} active? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _print_failover(arguments: argparse.Namespace, report: FailoverReport) -> int:
    failed = report.reconciled and report.reconciled.failed
    content = report.to_json()
    return print_either(arguments, content, lambda: _failover_text(report), is_long=True) or int(bool(failed))


def _failover_text(report: FailoverReport) -> str:
    before, swept = report.before, report.last_sweep_at
    latest = report.after or before
    lines = {
        "active before": (before and before.region) or "no region",
        "epoch": latest.epoch if latest else 0,
        "no region claims for": f"{report.quiet_time.total_seconds():g} s",
        "last replicated sweep": f"{to_second(swept)}; what was written later may be missing"
        if swept
        else "unknown",
    }
    if (done := report.reconciled) is None:
        return facts(f"{report.target} would become active; nothing has changed", lines)
    missing = [[ref.tenant_id, ref.name, str(len(times))] for ref, times in sorted(done.missing.items())]
    lines |= {
        "actions with a new wake": done.armed,
        "runs to take over": done.sent,
        "jobs maintained": done.jobs,
        "jobs left for the sweep": ", ".join(ref.name for ref in done.failed) or "none",
        "audit entry": report.entry_id or "-",
    }
    parts = [facts(f"{report.target} is active", lines)]
    if missing:
        parts.append(table(["TENANT", "JOB", "TIMES WITHOUT A ROW, PLANNED AGAIN"], missing))
    return "\n\n".join(parts)


def _compare(arguments: argparse.Namespace, settings: Settings) -> int:
    former = clients.dynamodb(region=arguments.compare)
    found = compare(all_rows(former, settings.made.actions_table), action_store(settings))
    parts = [
        _section(f"only in {arguments.compare}: {len(found.missing)}", found.missing),
        _section(f"began in both regions: {len(found.twice)}", found.twice),
    ]
    return print_either(arguments, found.to_json(), lambda: "\n\n".join(parts), is_long=True)


def _section(title: str, rows: Sequence[Action]) -> str:
    cells = [[row.tenant_id, row.id, row.type, row.status.value, to_second(row.due_at)] for row in rows]
    return section(title, ["TENANT", "ID", "TYPE", "STATUS", "DUE"], cells)


def export(arguments: argparse.Namespace) -> int:
    """Export a tenant."""
    step = Export(
        settings_of_deployment(arguments.prefix), SystemClock(), arguments.name, arguments.to, by=_operator()
    )
    with ProgressBar("export") as bar:
        report = step(bar.note)
    return _print_tenant(arguments, report, f"{plain(arguments.name)} exported to {arguments.to}")


def erase(arguments: argparse.Namespace) -> int:
    """Erase a tenant, or print what would be erased."""
    reason = arguments.reason.strip()
    if not 1 <= len(reason) <= _LONGEST_REASON:
        raise BadUsage(f"--reason has {len(reason)} characters; allowed are 1 to {_LONGEST_REASON}")
    step = Erase(
        settings_of_deployment(arguments.prefix),
        SystemClock(),
        arguments.name,
        by=_operator(),
        reason=reason,
        keep_audit=arguments.keep_audit,
        wait=timedelta(seconds=arguments.wait),
    )
    name = plain(arguments.name)
    if not arguments.confirm:
        report = step.preview()
        return _print_tenant(arguments, report, f"{name} would be erased; nothing has changed: add --confirm")
    with ProgressBar("erase") as bar:
        report = step(bar.note)
    words = "is erased" if report.is_complete else "is not erased completely"
    return _print_tenant(arguments, report, f"{name} {words}") or int(not report.is_complete)


def _print_tenant(arguments: argparse.Namespace, report: Report, head: str) -> int:
    lines = {**report.stopped, "audit entry": report.entry_id}
    counts = [[kind, str(count)] for kind, count in sorted(report.items.items())]
    parts = [
        facts(head, lines),
        table(["KIND", "ITEMS"], counts) if counts else "nothing is stored",
        "\n".join(["not included:", *(f"  {line}" for line in report.left)]),
    ]
    return print_either(arguments, report.to_json(), lambda: "\n\n".join(parts))
