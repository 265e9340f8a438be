"""Commands that use the operator's AWS credentials instead of the API: failover, restore, tenants' data.

The API of a region that failed, or of a deployment without its tables, does not answer, and no function may
read or delete all of a tenant.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from duetime import instant as instants
from duetime._english import counted
from duetime.aws import clients
from duetime.aws.account import Account
from duetime.aws.backends import action_store
from duetime.aws.function_logs import settings_of_deployment
from duetime.cli.failures import BadUsage
from duetime.cli.output import ProgressBar, check_terminal, confirmed, print_either
from duetime.cli.tables import facts, plain, section, table, to_second
from duetime.clock import SystemClock
from duetime.ids import KEY_LIMIT, SEPARATOR
from duetime.model.action import Action
from duetime.restore.report import RestoreReport
from duetime.restore.restore import HeldRows, Restore, verdict_of
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
    return name.replace(SEPARATOR, "-")[:KEY_LIMIT]


# Failover.


def fail_over(arguments: argparse.Namespace) -> int:
    """Fail over, or compare both regions."""
    clients.use_region(arguments.to)
    deployed = settings_of_deployment(arguments.prefix)
    settings = replace(deployed, regions_table=arguments.regions_table or deployed.regions_table)
    if arguments.compare:
        return _compare(arguments, settings)
    step = RunFailover(
        target=arguments.to,
        settings=settings,
        clock=SystemClock(),
        by=_operator(),
        is_fenced=bool(deployed.regions_table),
        note=lambda line: print(line, file=sys.stderr, flush=True),
    )
    if not (arguments.dry_run or arguments.reconcile or arguments.yes):
        check_terminal()
        print(_failover_text(step.preview()), file=sys.stderr)
        if not confirmed(f"make {arguments.to} active"):
            return 1
    report = step.preview() if arguments.dry_run else step.reconcile() if arguments.reconcile else step()
    failed = report.reconciled and report.reconciled.failed
    content = report.to_json()
    return print_either(arguments, content, lambda: _failover_text(report), is_long=True) or int(bool(failed))


def _failover_text(report: FailoverReport) -> str:
    before, swept, latest = report.before, report.last_sweep_at, report.after or report.before
    missed = "; what was written later may be missing"
    lines = {
        "active before": (before and before.region) or "no region",
        "epoch": latest.epoch if latest else 0,
        "no region claims for": f"{report.quiet_time.total_seconds():g} s",
        "last replicated sweep": f"{to_second(swept)}{missed}" if swept else "unknown",
    }
    if (done := report.reconciled) is None:
        return facts(f"{report.target} would become active; nothing has changed", lines)
    lines |= {
        "actions with a new wake": done.armed,
        "runs to take over": done.sent,
        "jobs maintained": done.jobs,
        "jobs left for the sweep": ", ".join(ref.name for ref in done.failed) or "none",
        "audit entry": report.entry_id or "-",
    }
    head = facts(f"{report.target} is active", lines)
    missing = [[ref.tenant_id, ref.name, str(len(times))] for ref, times in sorted(done.missing.items())]
    heads = ["TENANT", "JOB", "TIMES WITHOUT A ROW, PLANNED AGAIN"]
    return f"{head}\n\n{table(heads, missing)}" if missing else head


def _compare(arguments: argparse.Namespace, settings: Settings) -> int:
    former = clients.dynamodb(region=arguments.compare)
    found = compare(all_rows(former, settings.made.actions_table), action_store(settings))
    sections = {f"only in {arguments.compare}": found.missing, "began in both regions": found.twice}
    heads = ["TENANT", "ID", "TYPE", "STATUS", "DUE"]
    parts = [
        section(
            f"{title}: {len(rows)}",
            heads,
            [[row.tenant_id, row.id, row.type, row.status.value, to_second(row.due_at)] for row in rows],
        )
        for title, rows in sections.items()
    ]
    return print_either(arguments, found.to_json(), lambda: "\n\n".join(parts), is_long=True)


# Tenants.


def export(arguments: argparse.Namespace) -> int:
    """Export a tenant."""
    settings, name = settings_of_deployment(arguments.prefix), arguments.name
    step = Export(settings, SystemClock(), name, arguments.to, by=_operator())
    with ProgressBar("export") as bar:
        report = step(bar.note)
    return _print_tenant(arguments, report, f"exported to {arguments.to}")


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
    if not arguments.yes:
        words = "would be erased; nothing has changed: add --yes"
        return _print_tenant(arguments, step.preview(), words)
    with ProgressBar("erase") as bar:
        report = step(bar.note)
    words = "is erased" if report.is_complete else "is not erased completely"
    return _print_tenant(arguments, report, words) or int(not report.is_complete)


def _print_tenant(arguments: argparse.Namespace, report: Report, words: str) -> int:
    counts = [[kind, str(count)] for kind, count in sorted(report.items.items())]
    parts = [
        facts(f"{plain(arguments.name)} {words}", {**report.stopped, "audit entry": report.entry_id}),
        table(["KIND", "ITEMS"], counts) if counts else "nothing is stored",
        "\n".join(["not included:", *(f"  {line}" for line in report.left)]),
    ]
    return print_either(arguments, report.to_json(), lambda: "\n\n".join(parts))


# Restore.


_REPORTS = {"report": ("read the evidence", Restore.report), "adopt": ("adopt", Restore.adopt)}


def restore(arguments: argparse.Namespace) -> int:
    """Compare a restored table with the evidence, adopt restored tables, or list or decide on held rows."""
    if arguments.verb not in _REPORTS:
        return _decide(arguments)
    label, run = _REPORTS["report" if arguments.dry_run else arguments.verb]
    point = arguments.restored_to
    with ProgressBar(label):
        report = run(
            Restore(
                settings_of_deployment(arguments.prefix),
                SystemClock(),
                actions=arguments.actions,
                jobs=arguments.jobs,
                restored_to=None if point is None else datetime.fromisoformat(point),
                reads_logs=not arguments.no_logs,
            )
        )
    text = "\n\n".join(_restored(report, arguments))
    return print_either(arguments, report.to_json(), lambda: text, is_long=True)


def _restored(report: RestoreReport, arguments: argparse.Namespace) -> Iterator[str]:
    minutes = counted(round((report.at - report.restored_to).total_seconds() / 60), "minute")
    lines = {f"{kind} table": name for kind, name in report.tables.items()} | dict(report.sources)
    enabled = {f"{kind}: enabled": ", ".join(done) or "nothing new" for kind, done in report.enabled.items()}
    yield facts(f"restored to {to_second(report.restored_to)}, {minutes} ago", lines | enabled)
    doubtful = [
        [verdict.value, row.tenant_id, row.id, row.type, _when(row.nominal_at), evidence]
        for row, (verdict, evidence) in ((one.row, one.judgement) for one in report.doubtful)
    ]
    heads = ["VERDICT", "TENANT", "ID", "TYPE", "NOMINAL TIME", "EVIDENCE"]
    yield section(f"rows that may double: {len(doubtful)}", heads, doubtful)
    lost = [[one.ref.tenant_id, one.ref.id, one.type, _when(one.due_at), one.evidence] for one in report.lost]
    still_open = sum(action.is_open for action in report.lost)
    title = f"actions that are not in the table: {len(lost)}; without a sign that they ended: {still_open}"
    yield section(title, ["TENANT", "ID", "TYPE", "DUE", "EVIDENCE"], lost)
    jobs = [
        [job.ref.tenant_id, job.ref.name, str(job.unknown), "; ".join(job.notes) or "-"]
        for job in report.jobs
    ]
    yield section(f"jobs to check: {len(jobs)}", ["TENANT", "JOB", "UNKNOWN TIMES", "NOTES"], jobs)
    yield f"rows that run when they are due: {report.unchanged}; held before: {report.held}"
    if report.enabled:
        yield "\n".join(_next_steps(report, arguments))


def _next_steps(report: RestoreReport, arguments: argparse.Namespace) -> Iterator[str]:
    yield f"wakes set again: {report.timers_set}; timers of other rows removed: {report.timers_removed}"
    if report.wakes_removed:
        yield f"schedules and rules of no job were removed: {', '.join(report.wakes_removed)}"
    held = sum(row.is_held for row in report.doubtful)
    of_table = f" --actions {plain(arguments.actions)}" if arguments.actions else ""
    yield f"rows held until you decide: {held}; duetime deployment restore list, run, done{of_table}"
    yield from ("", "put these lines into cdk.json, and deploy:")
    yield from (f'  "{name}": "{value}",' for name, value in report.settings.items())


def _when(at: datetime | None) -> str:
    return "-" if at is None else to_second(at)


_DECISIONS = {"run": ("run again", HeldRows.run_again), "done": ("done", HeldRows.mark_done)}


def _held(arguments: argparse.Namespace) -> HeldRows:
    settings = settings_of_deployment(arguments.prefix)
    chosen = settings.with_made(actions_table=arguments.actions or settings.made.actions_table)
    return HeldRows(chosen, SystemClock())


def _decide(arguments: argparse.Namespace) -> int:
    is_list = arguments.verb == "list"
    if not (is_list or arguments.all or arguments.ids or arguments.verdict or arguments.job):
        raise BadUsage("no row is named; name ids, or use --verdict, --job or --all")
    held = _held(arguments)
    before = held.list()
    rows = _chosen(arguments, before)
    content = {"rows": [*map(_row_json, rows)], "changed": 0}
    if is_list or arguments.dry_run:
        return print_either(arguments, content, lambda: _listed(rows, before), is_long=True)
    word, change = _DECISIONS[arguments.verb]
    count = content["changed"] = change(held, rows)
    return print_either(arguments, content, lambda: f"{count} {word}, {len(held.list())} still held")


def _chosen(arguments: argparse.Namespace, rows: Sequence[Action]) -> Sequence[Action]:
    chosen = [
        row
        for row in rows
        if (not arguments.verdict or verdict_of(row) == arguments.verdict)
        and (not arguments.job or row.job == arguments.job)
    ]
    if not arguments.ids:
        return chosen
    found: list[Action] = []
    for name in dict.fromkeys(arguments.ids):
        named = [row for row in chosen if name in {row.id, f"{row.tenant_id}/{row.id}"}]
        if not named:
            raise BadUsage(f"{name} is no held row; `duetime deployment restore list` shows them")
        if len(named) > 1:
            tenants = " or ".join(f"{row.tenant_id}/{row.id}" for row in named)
            raise BadUsage(f"{name} is a row of {len(named)} tenants; write {tenants}")
        found += named
    return found


def _row_json(row: Action) -> dict[str, object]:
    names = ("tenant_id", "id", "type", "job", "nominal_at", "note")
    return {name: getattr(row, name) for name in names} | {"nominal_at": instants.text(row.nominal_at)}


def _listed(rows: Sequence[Action], held: Sequence[Action]) -> str:
    """Return the chosen rows as a table, or why there are none."""
    if not rows:
        return f"none of {counted(len(held), 'held row')} matches" if held else "no row is held"
    cells = [[row.tenant_id, row.id, row.type, to_second(row.nominal_at), row.note or ""] for row in rows]
    return table(["TENANT", "ID", "TYPE", "NOMINAL TIME", "EVIDENCE"], cells)
