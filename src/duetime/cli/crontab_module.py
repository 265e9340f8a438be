"""Write a module of jobs from the entries of a crontab."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from keyword import iskeyword
from typing import TYPE_CHECKING, Literal

from duetime.cli.cron_runs import cron_runs
from duetime.cli.crontab_file import Entry, Problem

if TYPE_CHECKING:
    from duetime.cadence import Cadence

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
    from duetime.cadence import InvalidCadence, cron  # noqa: PLC0415 - `duetime --help` must be quick

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
    from duetime.cadence.zones import instant_at, seconds_of, zone  # noqa: PLC0415 - as above

    where, at, last = zone(one.tz), seconds_of(now), seconds_of(now + _TEN_YEARS)
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


def module_text(jobs: Sequence[ImportedJob], *, source: str, tz: str, mail_to: Sequence[str]) -> str:
    """Return the module's source."""
    return "\n".join(_lines(jobs, source, tz, mail_to)) + "\n"


def _lines(jobs: Sequence[ImportedJob], source: str, tz: str, mail_to: Sequence[str]) -> Iterator[str]:
    environments = _environments(jobs)
    yield f'"""Jobs from the crontab {_plain(source)}.'
    yield ""
    yield "Each command becomes a function; an exit status other than 0 fails the run. Unlike in cron, a run"
    yield 'is skipped while the previous one runs, unless its job has overlap="allow".'
    if mail_to:
        yield ""
        yield f"MAILTO was {_plain(', '.join(mail_to))}: such addresses receive notifications of failures, by"
        yield "`duetime notifications preferences set`."
    yield '"""'
    yield ""
    yield "import os"
    yield "import subprocess"
    yield ""
    yield "from duetime import App, cron"
    yield ""
    yield f'app = App(default_tz="{tz}")'
    for name, variables in environments.items():
        yield ""
        yield f"{name} = {{"
        yield from (f"    {_text(key)}: {_text(value)}," for key, value in variables.items())
        yield "}"
    yield ""
    yield ""
    yield 'def run_command(command: str, variables: dict[str, str] | None = None, text: str = "") -> None:'
    yield '    """Run a command as cron does: by the shell, with variables and standard input."""'
    yield "    environment = {**os.environ, **(variables or {})}"
    yield '    shell = (variables or {}).get("SHELL", "/bin/sh")'
    yield '    subprocess.run([shell, "-c", command], input=text, text=True, check=True, env=environment)'
    for job in jobs:
        yield ""
        yield ""
        yield from _job_lines(job, environments)


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
    import json  # noqa: PLC0415 - JSON's escapes are Python's, surrogates aside

    return json.dumps(value, ensure_ascii=not value.isprintable())


def _plain(text: str) -> str:
    return text.replace("\\", "/").replace('"', "'")
