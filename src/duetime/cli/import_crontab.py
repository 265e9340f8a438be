"""``duetime app import-crontab``: a module of jobs from a crontab, and each job's runs beside cron's."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice
from keyword import iskeyword
from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo

from duetime._english import counted
from duetime.cadence import Cadence, InvalidCadence, cron, parse
from duetime.cadence.zones import instant_at, seconds_of
from duetime.cadence.zones import zone as zone_of
from duetime.cli.failures import BadUsage
from duetime.cli.parser import BAD_USAGE
from duetime.cli.tables import table
from duetime.clock import SystemClock

_SYSTEM = ("/etc/crontab", "/etc/cron.d/")


def run(arguments: argparse.Namespace) -> int:
    """Print the module.

    Raises:
        BadUsage: the file cannot be read, or a line cannot become a job.
    """
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
    return ", ".join(f"{at.astimezone(ZoneInfo(tz)):%a %m-%d %H:%M}" for at in runs) or "none"


_MACROS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_RANGES = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_NAMES = {
    **{name: n for n, name in enumerate(_MONTHS, start=1)},
    **{name: n for n, name in enumerate(_WEEKDAYS)},
}
_YEARS = 30


def cron_runs(schedule: str, tz: str, after: datetime, *, day_rule: str = "cron") -> Iterator[datetime]:
    """Yield the runs after an instant, in UTC, for thirty years.

    Args:
        schedule: five fields, or a macro.
        tz: the machine's zone.
        after: an aware instant.
        day_rule: ``and`` or ``or`` in place of cron's own rule.
    """
    fields = _MACROS.get(schedule.lower(), schedule).lower().split()
    minutes, hours, days, months, weekdays = (
        _values(text, *bounds) for text, bounds in zip(fields, _RANGES, strict=True)
    )
    weekdays = {number % 7 for number in weekdays}
    must_match_both = "*" in (fields[2][0], fields[4][0]) if day_rule == "cron" else day_rule == "and"
    if "*" in (fields[2], fields[4]):
        must_match_both = True
    zone, follows_clock = ZoneInfo(tz), fields[0][0] == "*" or fields[1][0] == "*"
    times = [time(hour, minute) for hour in sorted(hours) for minute in sorted(minutes)]
    day = after.astimezone(zone).date() - timedelta(days=1)
    for _ in range(_YEARS * 366):
        in_date, in_week = day.day in days, day.isoweekday() % 7 in weekdays
        is_day = in_date and in_week if must_match_both else in_date or in_week
        if is_day and day.month in months:
            runs = {run for at in times for run in _instants(day, at, zone, follows_clock=follows_clock)}
            yield from (run for run in sorted(runs) if run > after)
        day += timedelta(days=1)


def _instants(day: date, at: time, zone: ZoneInfo, *, follows_clock: bool) -> Iterator[datetime]:
    local = datetime.combine(day, at)
    first, second = (local.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    if first == second:
        yield first
    elif first < second:  # the time comes twice
        yield first
        if follows_clock:
            yield second
    elif not follows_clock:  # the clocks skip it: `second` has the offset after the gap
        yield _end_of_gap(second, first, zone)


def _end_of_gap(low: datetime, high: datetime, zone: ZoneInfo) -> datetime:
    """Return the instant between two at which the offset changes."""
    before = low.astimezone(zone).utcoffset()
    while high - low > timedelta(seconds=1):
        middle = low + (high - low) / 2
        low, high = (middle, high) if middle.astimezone(zone).utcoffset() == before else (low, middle)
    return high.replace(microsecond=0)


def _values(text: str, low: int, high: int) -> set[int]:
    found = set[int]()
    for item in text.split(","):
        values, _, step = item.partition("/")
        first, _, last = (f"{low}-{high}" if values == "*" else values).partition("-")
        begin = _number(first)
        end = _number(last) if last else high if step else begin
        found |= set(range(begin, end + 1, int(step or 1)))
    return found


def _number(text: str) -> int:
    return _NAMES[text] if text in _NAMES else int(text)


FIRST = 5
_TEN_YEARS = timedelta(days=3_653)
_A_DAY = 86_400
_PREFIXES = re.compile(
    r"^(?:cd\s+\S+\s*(?:&&|;)\s*|\w+=\S+\s+|(?:sudo|nice|ionice|nohup|exec)(?:\s+-\S+)*\s+)+"
)
_SHELLS = ("sh", "bash", "python", "python3", "perl", "ruby", "node", "php", "env")


@dataclass(frozen=True, slots=True)
class ImportedJob:
    """An entry as a job.

    Attributes:
        call: the call that makes its cadence, as source text.
    """

    entry: Entry
    name: str
    call: str
    cadence: Cadence
    runs: tuple[datetime, ...]
    cron_runs: tuple[datetime, ...]


def import_entries(
    entries: Sequence[Entry], *, tz: str, day_rule: str | None, now: datetime
) -> tuple[list[ImportedJob], list[Problem]]:
    """Return the jobs of entries, and the entries that cannot become one.

    Args:
        entries: of one crontab.
        tz: the machine's zone.
        day_rule: how to combine two restricted day fields: ``cron``, ``and`` or ``or``; None to reject them.
        now: the start of the runs to show.
    """
    jobs, problems, names = list[ImportedJob](), list[Problem](), set[str]()
    for entry in entries:
        if entry.restricts_both_days and day_rule is None:
            problems.append(
                Problem(
                    entry.line,
                    f"{entry.schedule!r} restricts both day fields, which cron combines by"
                    f" {entry.day_rule_of_cron!r}; give --day-rule cron to keep that, or --day-rule and|or",
                )
            )
            continue
        found = _imported(entry, _name(entry, names), tz, day_rule, now)
        if isinstance(found, Problem):
            problems.append(found)
        else:
            names.add(found.name)
            jobs.append(found)
    return jobs, problems


def _imported(entry: Entry, name: str, tz: str, day_rule: str | None, now: datetime) -> ImportedJob | Problem:
    rule: Literal["and", "or"] | None = None
    if entry.restricts_both_days:
        rule = entry.day_rule_of_cron if day_rule == "cron" else "and" if day_rule == "and" else "or"
    zone = entry.tz or tz
    try:
        plain = cron(entry.schedule, day_rule=rule, tz=zone)
        as_cron = cron(entry.schedule, day_rule=rule, tz=zone, dst="vixie")
    except InvalidCadence as refused:
        return Problem(entry.line, f"{refused.problem}; {refused.remedy}")
    differs = _differ(plain, as_cron, now)
    cadence = as_cron if differs else plain
    options = (
        (f'day_rule="{rule}"', rule),
        (f'tz="{entry.tz}"', entry.tz),
        ('dst="vixie"', differs),
    )
    words = [f'"{entry.schedule}"', *(text for text, is_given in options if is_given)]
    expected = cron_runs(entry.schedule, zone, now, day_rule=rule or "cron")
    return ImportedJob(
        entry,
        name,
        f"cron({', '.join(words)})",
        cadence,
        tuple(islice(cadence.between(now, now + _TEN_YEARS * 3), FIRST)),
        tuple(islice(expected, FIRST)),
    )


def _differ(one: Cadence, other: Cadence, now: datetime) -> bool:
    """Return whether two cadences differ at a change of the clocks within ten years."""
    where, at, last = zone_of(one.tz), seconds_of(now), seconds_of(now + _TEN_YEARS)
    while at < last:
        at = where.span(at).end
        before, after = instant_at(at - _A_DAY), instant_at(at + _A_DAY)
        if before and after and [*one.between(before, after)] != [*other.between(before, after)]:
            return True
    return False


def _name(entry: Entry, taken: set[str]) -> str:
    """Return the job's name: after the program that its command runs."""
    words = _PREFIXES.sub("", entry.command).split()
    while len(words) > 1 and (words[0].rpartition("/")[2] in _SHELLS or words[0].startswith("-")):
        words = words[1:]
    program = (words[0] if words else "").strip("\"'()").rpartition("/")[2].partition(".")[0]
    base = re.sub(r"[^a-z0-9]+", "-", program.lower()).strip("-")[:40]
    if not base or not base[0].isalpha():
        base = f"line-{entry.line}" if not base else f"run-{base}"
    name, number = f"cron-{base}", 1
    while name in taken:
        number += 1
        name = f"cron-{base}-{number}"
    return name


_MODULE = '''\
"""Jobs from the crontab {source}.

Each command becomes a function; an exit status other than 0 fails the run. Unlike in cron, a run
is skipped while the previous one runs, unless its job has overlap="allow".
{mail}"""

import os
import subprocess

from duetime import App, cron

app = App(default_tz="{tz}")
{environments}

def run_command(command: str, variables: dict[str, str] | None = None, text: str = "") -> None:
    """Run a command as cron does: by the shell, with variables and standard input."""
    environment = {{**os.environ, **(variables or {{}})}}
    shell = (variables or {{}}).get("SHELL", "/bin/sh")
    subprocess.run([shell, "-c", command], input=text, text=True, check=True, env=environment)
'''
_MAIL = """
MAILTO was {to}: such addresses receive notifications of failures, by
`duetime notifications preferences`.
"""


def module_text(jobs: Sequence[ImportedJob], *, source: str, tz: str, mail_to: Sequence[str]) -> str:
    """Return the module's source."""
    environments = _environments(jobs)
    assigned = "".join(
        "\n".join(
            ["", f"{name} = {{", *(f"    {_text(key)}: {_text(of)}," for key, of in values.items()), "}\n"]
        )
        for name, values in environments.items()
    )
    mail = _MAIL.format(to=_plain(", ".join(mail_to))) if mail_to else ""
    head = _MODULE.format(source=_plain(source), tz=tz, mail=mail, environments=assigned)
    return "\n\n".join([head, *("\n".join(_job_lines(job, environments)) + "\n" for job in jobs)])


def _job_lines(job: ImportedJob, environments: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    entry = job.entry
    yield from (f"# {comment}" for comment in entry.comments)
    user = f", by the user {entry.user}" if entry.user else ""
    yield f"# line {entry.line}{user}"
    yield f'@app.job({job.call}, name="{job.name}")'
    function = job.name.replace("-", "_")
    yield f"def {function}{'_' if iskeyword(function) else ''}() -> None:"
    variables = next((name for name, values in environments.items() if values == entry.variables), "")
    arguments = [_text(entry.command), *([variables] if variables else [])]
    if entry.text:
        arguments.append(f"text={_text(entry.text)}")
    yield f"    run_command({', '.join(arguments)})"


def _environments(jobs: Sequence[ImportedJob]) -> dict[str, Mapping[str, str]]:
    distinct = list[Mapping[str, str]]()
    for job in jobs:
        if job.entry.variables and job.entry.variables not in distinct:
            distinct.append(job.entry.variables)
    return {f"VARIABLES{f'_{n}' if n > 1 else ''}": values for n, values in enumerate(distinct, start=1)}


def _text(value: str) -> str:
    """Return a literal in double quotes."""
    return json.dumps(value, ensure_ascii=not value.isprintable())


def _plain(text: str) -> str:
    return text.replace("\\", "/").replace('"', "'")


DayRule = Literal["cron", "and", "or"]

_VARIABLE = re.compile(r"""\s*(["']?)(\w+)\1\s*=\s*(.*?)\s*""")
_FIELDS = 5
_NOT_FOR_COMMANDS = ("MAILTO", "MAILFROM", "CRON_TZ")
_USERS = frozenset({"root", "www-data", "nobody", "postgres"})
_REBOOT = "names no time, and a Lambda function has no start of a machine; remove the line"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A line that starts a command.

    Attributes:
        line: its number, from 1.
        schedule: five fields, or a macro such as ``@daily``.
        command: the command, without escapes of ``%``.
        text: its standard input, which follows the first ``%``; empty without one.
        user: the user of a system crontab's line; empty in a user's.
        variables: the command's variables, as set above the line.
        tz: the zone of ``CRON_TZ``; empty for the machine's.
        comments: the comments directly above it.
    """

    line: int
    schedule: str
    command: str
    text: str = ""
    user: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)
    tz: str = ""
    comments: tuple[str, ...] = ()

    @property
    def restricts_both_days(self) -> bool:
        """Whether neither day field is a star."""
        fields = self.schedule.split()
        return len(fields) == _FIELDS and "*" not in (fields[2], fields[4])

    @property
    def day_rule_of_cron(self) -> Literal["and", "or"]:
        """How cron combines both day fields: a field that begins with a star must match too."""
        fields = self.schedule.split()
        return "and" if fields[2][0] == "*" or fields[4][0] == "*" else "or"


@dataclass(frozen=True, slots=True)
class Problem:
    """A line that cannot become a job, and why."""

    line: int
    text: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.text}"


@dataclass(slots=True)
class Crontab:
    """A crontab's entries and problems, in their order.

    Attributes:
        mail_to: the addresses of ``MAILTO``, in their order.
    """

    entries: list[Entry] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    mail_to: list[str] = field(default_factory=list)


def read_crontab(text: str, *, has_users: bool) -> Crontab:
    """Return a crontab's entries.

    Args:
        text: the file.
        has_users: whether a user precedes each command, as in ``/etc/crontab``.
    """
    found, variables, tz, comments = Crontab(), dict[str, str](), "", list[str]()
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        if not line:
            comments = []
        elif line.startswith("#"):
            comments.append(line.lstrip("# ").rstrip())
        elif (variable := _VARIABLE.fullmatch(raw)) is not None:
            name, value = variable[2], _unquoted(variable[3])
            if name == "CRON_TZ":
                tz = value
            elif name == "MAILTO" and value and value not in found.mail_to:
                found.mail_to.append(value)
            if name not in _NOT_FOR_COMMANDS:
                variables = {**variables, name: value}
            comments = []
        else:
            read = _entry(number, line.removeprefix("-"), has_users=has_users)
            if isinstance(read, Problem):
                found.problems.append(read)
            else:
                found.entries.append(
                    Entry(
                        **read,
                        line=number,
                        variables=variables,
                        tz=tz,
                        comments=tuple(filter(None, comments)),
                    )
                )
            comments = []
    return found


def users_in(crontab: Crontab) -> Iterator[Entry]:
    """Yield the entries whose command begins with a common user's name, as in a system crontab."""
    for entry in crontab.entries:
        if not entry.user and entry.command.split()[0] in _USERS:
            yield entry


def _unquoted(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value


def _entry(number: int, line: str, *, has_users: bool) -> dict[str, str] | Problem:
    count = 1 if line.startswith("@") else _FIELDS
    words = line.split(None, count + has_users)
    if len(words) <= count + has_users:
        what = f"{'a time, ' if count == 1 else 'five fields, '}{'a user ' if has_users else ''}and a command"
        return Problem(number, f"{line[:40]!r} is no entry; write {what.replace(', and', ' and')}")
    schedule = " ".join(words[:count])
    if schedule.lower() == "@reboot":
        return Problem(number, f"@reboot {_REBOOT}")
    command, text = _command(words[-1])
    return {
        "schedule": schedule,
        "user": words[count] if has_users else "",
        "command": command,
        "text": text,
    }


def _command(written: str) -> tuple[str, str]:
    """Return the command and its standard input: the first ``%`` divides them, others are line ends."""
    command, *lines = (part.replace("\\%", "%") for part in re.split(r"(?<!\\)%", written))
    return command.rstrip(), "".join(f"{line}\n" for line in lines)
