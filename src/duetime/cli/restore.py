"""``duetime deployment restore``: adopts a restored table, and applies an operator's decisions.

It uses AWS credentials of its own, not the API: without its tables, a deployment has no API.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from duetime import instant as instants
from duetime._english import counted
from duetime.aws.function_logs import settings_of_deployment
from duetime.cli.failures import BadUsage
from duetime.cli.output import print_either
from duetime.cli.tables import facts, plain, section, table
from duetime.cli.terminal import ProgressBar
from duetime.clock import SystemClock
from duetime.model.action import Action
from duetime.restore.report import DoubtfulRow, RestoreReport
from duetime.restore.restore import HeldRows, Restore, verdict_of


def report(arguments: argparse.Namespace) -> int:
    """Compare a restored table with the evidence."""
    with ProgressBar("read the evidence"):
        found = _restore(arguments).report()
    return _print_report(arguments, found)


def adopt(arguments: argparse.Namespace) -> int:
    """Adopt restored tables."""
    with ProgressBar("adopt"):
        found = _restore(arguments).adopt()
    return _print_report(arguments, found)


def _restore(arguments: argparse.Namespace) -> Restore:
    point = arguments.restored_to
    return Restore(
        settings_of_deployment(arguments.prefix),
        SystemClock(),
        actions=arguments.actions,
        jobs=arguments.jobs,
        restored_to=None if point is None else datetime.fromisoformat(point),
        reads_logs=not arguments.no_logs,
    )


def _held(arguments: argparse.Namespace) -> HeldRows:
    settings = settings_of_deployment(arguments.prefix)
    chosen = settings.with_made(actions_table=arguments.actions or settings.made.actions_table)
    return HeldRows(chosen, SystemClock())


def list_held(arguments: argparse.Namespace) -> int:
    """List the held rows."""
    held = _held(arguments).list()
    rows = _chosen(arguments, held)
    return print_either(arguments, [*map(_row_json, rows)], lambda: _listed(rows, held), is_long=True)


def run_again(arguments: argparse.Namespace) -> int:
    """Let held rows run."""
    return _decide(arguments, "run again", lambda held, rows: held.run_again(rows))


def mark_done(arguments: argparse.Namespace) -> int:
    """Mark held rows as done."""
    return _decide(arguments, "done", lambda held, rows: held.mark_done(rows))


def _decide(
    arguments: argparse.Namespace, word: str, decide: Callable[[HeldRows, Iterable[Action]], int]
) -> int:
    if not (arguments.all or arguments.ids or arguments.verdict or arguments.job):
        raise BadUsage("no row is named; name ids, or use --verdict, --job or --all")
    held = _held(arguments)
    before = held.list()
    rows = _chosen(arguments, before)
    count = len(rows) if arguments.dry_run else decide(held, rows)
    content = {"rows": [*map(_row_json, rows)], "changed": 0 if arguments.dry_run else count}
    if arguments.dry_run:
        return print_either(arguments, content, lambda: _listed(rows, before), is_long=True)
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
    return {
        "tenant_id": row.tenant_id,
        "id": row.id,
        "type": row.type,
        "job": row.job,
        "nominal_at": instants.text(row.nominal_at),
        "note": row.note,
    }


def _listed(rows: Sequence[Action], held: Sequence[Action]) -> str:
    """Return the chosen rows as a table, or why there are none."""
    if rows:
        return _held_table(rows)
    return f"none of {counted(len(held), 'held row')} matches" if held else "no row is held"


def _held_table(rows: Sequence[Action]) -> str:
    cells = [
        [row.tenant_id, row.id, row.type, f"{row.nominal_at:%Y-%m-%dT%H:%M:%SZ}", row.note or ""]
        for row in rows
    ]
    return table(["TENANT", "ID", "TYPE", "NOMINAL TIME", "EVIDENCE"], cells)


def _print_report(arguments: argparse.Namespace, report: RestoreReport) -> int:
    return print_either(arguments, report.to_json(), lambda: _as_text(report, arguments), is_long=True)


def _as_text(report: RestoreReport, arguments: argparse.Namespace) -> str:
    minutes = counted(round((report.at - report.restored_to).total_seconds() / 60), "minute")
    parts = [
        facts(
            f"restored to {report.restored_to:%Y-%m-%dT%H:%M:%SZ}, {minutes} ago",
            {
                **{f"{kind} table": name for kind, name in report.tables.items()},
                **report.sources,
                **{
                    f"{kind}: enabled": ", ".join(done) or "nothing new"
                    for kind, done in report.enabled.items()
                },
            },
        )
    ]
    heads = ["VERDICT", "TENANT", "ID", "TYPE", "NOMINAL TIME", "EVIDENCE"]
    parts.append(
        section(
            f"rows that may double: {len(report.doubtful)}", heads, [_doubt(row) for row in report.doubtful]
        )
    )
    lost = [
        [action.ref.tenant_id, action.ref.id, action.type, _when(action.due_at), action.evidence]
        for action in report.lost
    ]
    still_open = sum(action.is_open for action in report.lost)
    title = f"actions that are not in the table: {len(lost)}; without a sign that they ended: {still_open}"
    parts.append(section(title, ["TENANT", "ID", "TYPE", "DUE", "EVIDENCE"], lost))
    jobs = [
        [job.ref.tenant_id, job.ref.name, str(job.unknown), "; ".join(job.notes) or "-"]
        for job in report.jobs
    ]
    parts.append(section(f"jobs to check: {len(jobs)}", ["TENANT", "JOB", "UNKNOWN TIMES", "NOTES"], jobs))
    parts.append(f"rows that run when they are due: {report.unchanged}; held before: {report.held}")
    if report.enabled:
        parts.append(_next_steps(report, arguments))
    return "\n\n".join(parts)


def _doubt(doubtful: DoubtfulRow) -> list[str]:
    row, (verdict, evidence) = doubtful.row, doubtful.judgement
    return [verdict.value, row.tenant_id, row.id, row.type, _when(row.nominal_at), evidence]


def _next_steps(report: RestoreReport, arguments: argparse.Namespace) -> str:
    lines = [f"wakes set again: {report.timers_set}; timers of other rows removed: {report.timers_removed}"]
    if report.wakes_removed:
        lines.append(f"schedules and rules of no job were removed: {', '.join(report.wakes_removed)}")
    held = sum(row.is_held for row in report.doubtful)
    lines += [
        f"rows held until you decide: {held}; duetime deployment restore list, run, done"
        + (f" --actions {plain(arguments.actions)}" if arguments.actions else ""),
        "",
        "put these lines into cdk.json, and deploy:",
        *(f'  "{name}": "{value}",' for name, value in report.settings.items()),
    ]
    return "\n".join(lines)


def _when(at: datetime | None) -> str:
    return "-" if at is None else f"{at:%Y-%m-%dT%H:%M:%SZ}"
