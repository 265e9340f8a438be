"""``duetime deployment restore``: adopts a restored table, and applies an operator's decisions.

It uses AWS credentials of its own, not the API: without its tables, a deployment has no API.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from duetime._english import counted
from duetime.cli.arguments import Commands, add_group, instant
from duetime.cli.failures import BadUsage
from duetime.cli.output import print_json
from duetime.cli.pager import print_long
from duetime.cli.progress import ProgressBar
from duetime.cli.tables import facts, plain, table

if TYPE_CHECKING:  # imported when it runs: `duetime --help` must be quick
    from duetime.model.action import Action
    from duetime.restore.report import DoubtfulRow, RestoreReport
    from duetime.restore.restore import HeldRows, Restore
    from duetime.settings import Settings

_SHOWN = 50
"""The number of lines of a list in text; --json has all."""

_VERDICTS = ("ended", "changed", "due")


def add_parser(commands: Commands) -> None:
    """Add the commands."""
    group = add_group(commands, "restore", "adopt a restored table, and decide what runs again")
    report = group.add_parser(
        "report",
        help="compare a restored table with the evidence, and change nothing",
        description="Compare a restored table with all evidence about the time since its restore point.",
    )
    adopt = group.add_parser(
        "adopt",
        help="adopt restored tables, and hold rows that may run twice",
        description="Adopt restored tables while the global switch is off: hold rows that may have run since"
        " the restore point, reconcile jobs, timers and schedules with the rows, and enable stream, time to"
        " live, point-in-time recovery and protection. It prints the report; a repeat is safe.",
    )
    for parser, run in ((report, _report), (adopt, _adopt)):
        _add_deployment(parser)
        add = parser.add_argument
        add("--jobs", default="", metavar="TABLE", help="the restored jobs table")
        add(
            "--restored-to",
            type=instant,
            metavar="TIME",
            help="the time of their rows (default: DynamoDB's record)",
        )
        add("--no-logs", action="store_true", help="do not read the functions' logs as evidence")
        parser.set_defaults(run=run)
    listed = group.add_parser("list", aliases=["ls"], help="list the held rows, each with its evidence")
    _add_deployment(listed)
    _add_choice(listed)
    listed.set_defaults(run=_list)
    for name, about, run in (
        ("run", "let held rows run: at their nominal times, or now if these have passed", _run),
        ("done", "mark held rows as done: they are skipped, and never run", _done),
    ):
        parser = group.add_parser(name, help=about)
        _add_deployment(parser)
        _add_choice(parser)
        parser.add_argument("--all", action="store_true", help="all held rows")
        parser.add_argument("--dry-run", action="store_true", help="list them, and change nothing")
        parser.set_defaults(run=run)


def _add_deployment(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--prefix", default="duetime-", help="the deployment's prefix (default: duetime-)")
    add("--actions", default="", metavar="TABLE", help="the restored actions table")
    add("--json", action="store_true", help="print JSON")


def _add_choice(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("ids", nargs="*", metavar="ID", help="ids of held rows, or TENANT/ID where two tenants share an id")
    add("--verdict", choices=_VERDICTS, help="held rows with this verdict")
    add("--job", metavar="NAME", help="held runs of this job")


def _report(arguments: argparse.Namespace) -> int:
    with ProgressBar("read the evidence"):
        report = _restore(arguments).report()
    return _print_report(arguments, report)


def _adopt(arguments: argparse.Namespace) -> int:
    with ProgressBar("adopt"):
        report = _restore(arguments).adopt()
    return _print_report(arguments, report)


def _restore(arguments: argparse.Namespace) -> Restore:
    from duetime.clock import SystemClock  # noqa: PLC0415 - as above
    from duetime.restore.restore import Restore  # noqa: PLC0415 - as above

    point = arguments.restored_to
    return Restore(
        _deployed(arguments),
        SystemClock(),
        actions=arguments.actions,
        jobs=arguments.jobs,
        restored_to=None if point is None else datetime.fromisoformat(point),
        reads_logs=not arguments.no_logs,
    )


def _deployed(arguments: argparse.Namespace) -> Settings:
    from duetime.aws import clients  # noqa: PLC0415 - as above
    from duetime.aws.function_logs import deployed_settings  # noqa: PLC0415 - as above

    return deployed_settings(clients.functions(), arguments.prefix)


def _held(arguments: argparse.Namespace) -> HeldRows:

    from duetime.clock import SystemClock  # noqa: PLC0415 - as above
    from duetime.restore.restore import HeldRows  # noqa: PLC0415 - as above

    settings = _deployed(arguments)
    chosen = settings.with_made(actions_table=arguments.actions or settings.made.actions_table)
    return HeldRows(chosen, SystemClock())


def _list(arguments: argparse.Namespace) -> int:
    held = _held(arguments).list()
    rows = _chosen(arguments, held)
    if arguments.json:
        print_json([_row_json(row) for row in rows])
    else:
        print_long(_listed(rows, held))
    return 0


def _run(arguments: argparse.Namespace) -> int:
    return _decide(arguments, "run again", lambda held, rows: held.run_again(rows))


def _done(arguments: argparse.Namespace) -> int:
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
    if arguments.json:
        print_json({"rows": [_row_json(row) for row in rows], "changed": 0 if arguments.dry_run else count})
    elif arguments.dry_run:
        print_long(_listed(rows, before))
    else:
        left = len(held.list())
        print(f"{count} {word}, {left} still held")
    return 0


def _chosen(arguments: argparse.Namespace, rows: Sequence[Action]) -> Sequence[Action]:
    from duetime.restore.restore import verdict_of  # noqa: PLC0415 - as above

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
    from duetime import instant as instants  # noqa: PLC0415 - as above

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
    if arguments.json:
        print_json(report.to_json())
    else:
        print_long(_as_text(report, arguments))
    return 0


def _as_text(report: RestoreReport, arguments: argparse.Namespace) -> str:
    minutes = counted(round((report.at - report.restored_to).total_seconds() / 60), "minute")
    parts = [
        facts(
            f"restored to {report.restored_to:%Y-%m-%dT%H:%M:%SZ}, {minutes} ago",
            [
                *((f"{kind} table", name) for kind, name in report.tables.items()),
                *report.sources.items(),
                *(
                    (f"{kind}: enabled", ", ".join(done) or "nothing new")
                    for kind, done in report.enabled.items()
                ),
            ],
        )
    ]
    heads = ["VERDICT", "TENANT", "ID", "TYPE", "NOMINAL TIME", "EVIDENCE"]
    parts.append(
        _section(
            f"rows that may double: {len(report.doubtful)}", heads, [_doubt(row) for row in report.doubtful]
        )
    )
    lost = [
        [action.ref.tenant_id, action.ref.id, action.type, _when(action.due_at), action.evidence]
        for action in report.lost
    ]
    still_open = sum(action.is_open for action in report.lost)
    title = f"actions that are not in the table: {len(lost)}; without a sign that they ended: {still_open}"
    parts.append(_section(title, ["TENANT", "ID", "TYPE", "DUE", "EVIDENCE"], lost))
    jobs = [
        [job.ref.tenant_id, job.ref.name, str(job.unknown), "; ".join(job.notes) or "-"]
        for job in report.jobs
    ]
    parts.append(_section(f"jobs to check: {len(jobs)}", ["TENANT", "JOB", "UNKNOWN TIMES", "NOTES"], jobs))
    parts.append(f"rows that run when they are due: {report.unchanged}; held before: {report.held}")
    if report.enabled:
        parts.append(_next_steps(report, arguments))
    return "\n\n".join(parts)


def _section(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return title
    more = f"\nand {len(rows) - _SHOWN} more; --json has all" if len(rows) > _SHOWN else ""
    return f"{title}\n{table(heads, rows[:_SHOWN])}{more}"


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
