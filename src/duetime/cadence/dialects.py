"""Other schedulers' spellings of cadences, and the same cadences in duetime's spelling.

Imported only after a text has been rejected. It recognises crontab lines, EventBridge, Quartz, systemd,
Celery, APScheduler, Spring, iCalendar, Jenkins and Go. Each suggestion is parsed before it is offered, so a
suggestion is always valid.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from duetime.cadence.errors import InvalidCadence
from duetime.cadence.foreign_calls import apscheduler, celery
from duetime.cadence.rrule_text import from_rrule, is_rrule
from duetime.cadence.systemd_text import systemd_suggestion
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
    found = celery(text)
    return found and DialectMatch("this is Celery's crontab", *found)


def _apscheduler(text: str) -> DialectMatch | None:
    found = apscheduler(text)
    return found and DialectMatch("this is APScheduler's trigger", *found)


def _spring(text: str) -> DialectMatch | None:
    found = re.fullmatch(r"@Scheduled\((.*)\)", text, re.DOTALL)
    options = dict(re.findall(r'(\w+)\s*=\s*"([^"]*)"', found[1])) if found else {}
    if "cron" not in options:
        return None
    zone = f" tz={options['zone']}" if options.get("zone") else ""
    return DialectMatch("this is Spring's annotation", options["cron"] + zone)


def _rrule(text: str) -> DialectMatch | None:
    if not is_rrule(text):
        return None
    try:
        return DialectMatch("this is iCalendar's RRULE", from_rrule(text).text.removeprefix("cron "))
    except InvalidCadence:
        return None


def _systemd(text: str) -> DialectMatch | None:
    cadence = systemd_suggestion(text)
    kind = "word" if text.replace("-", "").isalpha() else "OnCalendar"
    return None if cadence is None else DialectMatch(f"this is systemd's {kind}", cadence)


def _jenkins(text: str) -> DialectMatch | None:
    fields = text.split()
    if len(fields) != _SIX - 1 or not any(re.fullmatch(_HASH, field) for field in fields):
        return None
    cadence = " ".join(re.sub(_HASH, _hashed, field) for field in fields)
    return DialectMatch("H is Jenkins' hash of the job's name", cadence, "or any other number in its place")


def _hashed(found: re.Match[str]) -> str:
    """Return one of the values that Jenkins may choose: with a step, those of the first offset."""
    values, step = found["values"], found["step"]
    if step:
        return f"{values or '*'}{step}"
    low, _, high = (values or "0-59").partition("-")
    return str(min(max(3, int(low)), int(high)))


def _zone_at_the_end(text: str) -> DialectMatch | None:
    found = re.fullmatch(rf"({_TIME})\s+({_ZONE})", text)
    if not found:
        return None
    return DialectMatch("the zone follows the expression", f"{found[1]} tz={found[2]}", start=found.start(2))


def _crontab_line(text: str) -> DialectMatch | None:
    found = re.match(rf"({_TIME})\s+(?=[/~.\w])(?=[^\s=]*[A-Za-z])(?!\w+=)", text)
    if not found or re.fullmatch(rf"{_NAMES}|{_ZONE}", text[found.end() :]):
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
_FIELD = r"[\w*?,/#-]+"
_TIME = rf"@\w+|[\d*?]\S*(?:\s+{_FIELD}){{4,5}}?"
_HASH = r"H(?:\((?P<values>\d+-\d+)\))?(?P<step>/\d+)?"
# Matches a day-of-week field, and no command.
_NAMES = r"(?i:[A-Z]{3}(?:[-,/#L][\w,#/-]*)?)"
_ZONE = r"[A-Z][A-Za-z_]+(?:/[\w+-]+)+|UTC|GMT"
_SPELLINGS: tuple[Callable[[str], DialectMatch | None], ...] = (
    _eventbridge,
    _quartz,
    _by_template,
    _celery,
    _apscheduler,
    _spring,
    _rrule,
    _systemd,
    _jenkins,
    _zone_at_the_end,
    _crontab_line,
)
