"""``duetime app import-crontab``: a module of jobs from a crontab, and each job's runs beside cron's."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from duetime._english import counted
from duetime.cli.arguments import Commands
from duetime.cli.crontab_file import Problem, read_crontab, users_in
from duetime.cli.failures import BadUsage
from duetime.cli.parser import BAD_USAGE
from duetime.cli.tables import table
from duetime.clock import SystemClock

if TYPE_CHECKING:
    from datetime import datetime

    from duetime.cli.crontab_module import ImportedJob

_SYSTEM = ("/etc/crontab", "/etc/cron.d/")


def add_parser(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "import-crontab",
        help="write a module of jobs from a crontab",
        description="Read a crontab and print a module with a job for each entry. The first runs of each,"
        " beside those that cron would start, go to standard error. If a line cannot become a job, print no"
        " module.",
    )
    add = parser.add_argument
    add("file", metavar="FILE", help="the crontab; -: standard input, as from crontab -l")
    add("--tz", default="UTC", metavar="ZONE", help="the zone of the crontab's machine (default: UTC)")
    add("--system", action="store_true", help="each command follows a user, as in /etc/crontab")
    add(
        "--day-rule",
        choices=("cron", "and", "or"),
        help="how two restricted day fields combine; cron: as cron does",
    )
    add("--skip", action="store_true", help="leave out the lines that cannot become jobs")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the module.

    Raises:
        BadUsage: the file cannot be read, or a line cannot become a job.
    """
    from duetime.cadence import InvalidCadence, parse  # noqa: PLC0415 - `duetime --help` must be quick
    from duetime.cli.crontab_module import import_entries, module_text  # noqa: PLC0415

    try:
        parse(f"manual default_tz={arguments.tz}")
    except InvalidCadence as refused:
        raise BadUsage(f"--tz: {refused.problem}; {refused.remedy}") from None
    found = read_crontab(
        _contents(arguments.file),
        has_users=arguments.system or str(arguments.file).startswith(_SYSTEM),
    )
    jobs, more = import_entries(
        found.entries, tz=arguments.tz, day_rule=arguments.day_rule, now=SystemClock().now()
    )
    problems = sorted([*found.problems, *more], key=lambda problem: problem.line)
    if problems and not arguments.skip:
        print("\n".join(_refusal(problems)), file=sys.stderr)
        return BAD_USAGE
    if not jobs:
        raise BadUsage(f"{arguments.file} has no entry that can become a job")
    source = "from standard input" if arguments.file == "-" else Path(arguments.file).name
    print(module_text(jobs, source=source, tz=arguments.tz, mail_to=found.mail_to), end="")
    notes = [f"left out: {problem}" for problem in problems]
    notes += [
        f"line {entry.line}: {entry.command.split()[0]!r} looks like a user; give --system if it is one"
        for entry in users_in(found)
    ]
    print("\n".join([*_comparison(jobs, arguments.tz), *notes]), file=sys.stderr)
    return 0 if all(job.runs == job.cron_runs for job in jobs) else 1


def _contents(file: str) -> str:
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise BadUsage(f"{file} cannot be read: {error}") from None


def _refusal(problems: Sequence[Problem]) -> Iterator[str]:
    yield (
        f"duetime: {counted(len(problems), 'line')} cannot become a job; repair the crontab,"
        " or leave such lines out with --skip:"
    )
    yield from (f"    {problem}" for problem in problems)


def _comparison(jobs: Sequence[ImportedJob], tz: str) -> Iterator[str]:
    """Yield each job's first runs, and those that cron would start."""
    rows = [
        (str(job.entry.line), job.name, shown, "the same" if shown == expected else expected)
        for job in jobs
        for shown, expected in (
            (_shown(job.runs, job.entry.tz or tz), _shown(job.cron_runs, job.entry.tz or tz)),
        )
    ]
    yield table(("LINE", "JOB", f"FIRST RUNS ({tz})", "CRON'S"), rows)


def _shown(runs: Sequence[datetime], tz: str) -> str:
    from zoneinfo import ZoneInfo  # noqa: PLC0415 - as above

    return ", ".join(f"{at.astimezone(ZoneInfo(tz)):%a %m-%d %H:%M}" for at in runs) or "none"
