"""Read a crontab: entries, variables, comments and users, by the rules of crontab(5) of Debian and cronie."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

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
