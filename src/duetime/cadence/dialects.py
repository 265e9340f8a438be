"""Other schedulers' spellings of cadences, and the same cadences in duetime's spelling.

Imported only after a text has been rejected. It recognises crontab lines, EventBridge, Quartz, systemd,
Celery, Jenkins and Go. Each suggestion is parsed before it is offered, so a suggestion is always valid.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from duetime.cadence.errors import InvalidCadence
from duetime.cadence.text import read_text
from duetime.cadence.words import WEEKDAYS


class DialectMatch(NamedTuple):
    """A text of another scheduler, and the same cadence in duetime's spelling.

    Attributes:
        problem: names the scheduler.
        text: the cadence's text.
        caveat: what differs, or what else to do; empty for nothing.
        start: where the foreign part begins; None if all of the text is foreign.
    """

    problem: str
    text: str
    caveat: str = ""
    start: int | None = None


def translate_error(error: InvalidCadence, text: str) -> InvalidCadence:
    """Return the error with the translated cadence as its remedy, or unchanged if no spelling matches."""
    found = _recognise(text)
    if found is None:
        return error
    remedy = "; ".join(filter(None, (f'write "{found.text}"', found.caveat)))
    return type(error)(text, found.problem, remedy, start=found.start or 0)


def _recognise(text: str) -> DialectMatch | None:
    for match in _SPELLINGS:
        found = match(text.strip())
        if found is not None and _is_valid(found.text):
            return found._replace(start=found.start and found.start + len(text) - len(text.lstrip()))
    return None


def _is_valid(text: str) -> bool:
    try:
        read_text(text)
    except InvalidCadence as error:
        return error.code == "ambiguous-days"
    return True


def _eventbridge(text: str) -> DialectMatch | None:
    inside = re.fullmatch(r"cron\((.*)\)", text, re.IGNORECASE)
    fields = (inside[1] if inside else text).split()
    if len(fields) != _SIX or not (inside or "?" in (fields[2], fields[4])):
        return None
    return _without_year(
        fields, "this is EventBridge's cron, which begins with the minute and ends with the year"
    )


def _quartz(text: str) -> DialectMatch | None:
    fields = text.split()
    if len(fields) != _SIX + 1 or not re.fullmatch(r"[*?\d,/-]+", fields[-1]):
        return None
    return _without_year(
        fields, "a cron expression has 5 or 6 fields, and this has 7: it ends with Quartz' year"
    )


def _without_year(fields: list[str], problem: str) -> DialectMatch:
    """Return the expression with its weekdays by name: in languages with a year, 1 is Sunday."""
    *others, weekday, year = fields
    caveat = (
        ""
        if year in ("*", "?")
        else f"no cadence ends with a year, so remove it from the code after {year}, or use once(...)"
    )
    return DialectMatch(problem, " ".join([*others, _by_name(weekday)]), caveat)


def _by_name(weekday: str) -> str:
    if weekday.upper() == "L":
        return "SAT"
    return re.sub(
        r"(?<![#/\d])[1-7](?!\d)", lambda found: WEEKDAYS[int(found[0]) - 1].upper(), weekday.upper()
    )


def _by_template(text: str) -> DialectMatch | None:
    for pattern, problem, template in _TEMPLATES:
        if found := re.fullmatch(pattern, text):
            cadence = found.expand(template)
            return DialectMatch(problem, cadence.lower() if cadence.startswith("interval") else cadence)
    return None


def _celery(text: str) -> DialectMatch | None:
    found = re.fullmatch(r"crontab\((.*)\)", text, re.IGNORECASE | re.DOTALL)
    if not found:
        return None
    arguments = {name: quoted or bare for name, quoted, bare in re.findall(_ARGUMENT, found[1])}
    cadence = " ".join(arguments.get(name, "*").replace(" ", "") for name in _CELERY)
    caveat = "" if "minute" in arguments else "Celery runs it in each minute, since minute is missing"
    return DialectMatch("this is Celery's crontab", cadence, caveat)


def _systemd(text: str) -> DialectMatch | None:
    if words := _SYSTEMD_WORDS.get(text.lower()):
        return DialectMatch("this is systemd's word", words)
    found = re.fullmatch(_CALENDAR, text)
    if not found or not (found["days"] or found["date"]):
        return None
    days = re.sub(r"([A-Za-z]{3})[a-z]*", r"\1", found["days"] or "").replace("..", "-").lower()
    kind = f"monthly {found['day'].lstrip('0')}" if (found["day"] or "*") != "*" else "daily"
    options = (f"days={days}" * bool(days), f"tz={found['zone']}" if found["zone"] else "")
    cadence = " ".join(filter(None, (kind, found["time"], *options)))
    return DialectMatch("this is systemd's OnCalendar", cadence)


def _jenkins(text: str) -> DialectMatch | None:
    fields = text.split()
    if len(fields) != _SIX - 1 or not any(re.fullmatch(_HASH, field) for field in fields):
        return None
    cadence = " ".join(
        re.sub(_HASH, lambda found: f"*{found[1]}" if found[1] else "3", field) for field in fields
    )
    return DialectMatch("H is Jenkins' hash of the job's name", cadence, "or any other number in its place")


def _crontab_line(text: str) -> DialectMatch | None:
    found = re.match(rf"(@\w+|[\d*?]\S*(?:\s+{_FIELD}){{4}})\s+(?=[/~.\w])(?=[^\s=]*[A-Za-z])(?!\w+=)", text)
    if not found or re.fullmatch(_NAMES, text[found.end() :], re.IGNORECASE):
        return None
    return DialectMatch(
        "a command follows the time", found[1], "the command becomes the job's function", start=found.end()
    )


_SIX = 6
# A pattern, the problem of a text that it matches, and the same cadence.
_TEMPLATES = (
    (r"(?i)rate\(\s*(\d+)\s+(m|h|d)(?:inute|our|ay)s?\s*\)", "this is EventBridge's rate", r"interval \1\2"),
    (r"(?i)at\(\s*(\S+?)\s*\)", "this is EventBridge's single time", r"once \1"),
    (r"(?i)@every\s+(\w+)", "this is Go's spelling of an interval", r"interval \1"),
    (r"(?:CRON_)?TZ=(\S+)\s+(.+)", "the zone comes before the expression", r"\2 tz=\1"),
)
_CELERY = ("minute", "hour", "day_of_month", "month_of_year", "day_of_week")
_ARGUMENT = r"""(\w+)\s*=\s*(?:["']([^"']*)["']|(\w+))"""
_SYSTEMD_WORDS = {
    "minutely": "@every_minute",
    "hourly": "@hourly",
    "yearly": "@yearly",
    "annually": "@yearly",
}
_CALENDAR = (
    r"(?:(?P<days>[A-Z][a-z]{2,}(?:(?:\.\.|,)[A-Z][a-z]{2,})*)\s+)?(?P<date>\*-\*-(?P<day>[\d,]+|\*)\s+)?"
    r"(?P<time>\d{1,2}:\d\d(?::\d\d)?)(?:\s+(?P<zone>[A-Za-z_]+(?:/\S+)?))?"
)
_FIELD = r"[\w*?,/#-]+"
_HASH = r"H(?:\([\d-]+\))?(/\d+)?"
# Matches a day-of-week field, and no command.
_NAMES = r"[A-Z]{3}(?:[-,/#L][\w,#/-]*)?"
_SPELLINGS: tuple[Callable[[str], DialectMatch | None], ...] = (
    _eventbridge,
    _quartz,
    _by_template,
    _celery,
    _systemd,
    _jenkins,
    _crontab_line,
)
