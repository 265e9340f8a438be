"""Celery's ``crontab(...)`` and APScheduler's triggers, as cadences of duetime.

Imported only after a text has been rejected. A call is read as Python, never run. Both libraries run on days
that match each of their day fields. Celery's positional order is minute, hour, day of week, day of month,
month of year (``celery.schedules.crontab``). In APScheduler a weekday's number counts from Monday, 0, and a
field less significant than the last given one has its lowest value (``apscheduler.triggers.cron``).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

CELERY = ("minute", "hour", "day_of_week", "day_of_month", "month_of_year")
APSCHEDULER = ("year", "month", "day", "week", "day_of_week", "hour", "minute", "second")

_LOWEST = {"month": "1", "day": "1", "hour": "0", "minute": "0", "second": "0"}
_CRON = ("minute", "hour", "day", "month", "day_of_week")
_FROM_MONDAY = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_ORDINALS = {"1st": "1", "2nd": "2", "3rd": "3", "4th": "4", "5th": "5"}


class Translation(NamedTuple):
    """The text of a cadence, and what differs; empty for nothing."""

    text: str
    caveat: str = ""


class _Call(NamedTuple):
    name: str
    arguments: Sequence[str]
    named: Mapping[str, str]


def celery(text: str) -> Translation | None:
    """Return the cadence of ``crontab(...)``; None for another text."""
    call = _call(text)
    if call is None or call.name.lower() != "crontab" or len(call.arguments) > len(CELERY):
        return None
    given = {**dict(zip(CELERY, call.arguments, strict=False)), **call.named}
    if not {*given} <= {*CELERY, "app", "nowfun"}:
        return None
    minute, hour, weekday, day, month = (given.get(name, "*") for name in CELERY)
    caveat = "" if "minute" in given else "Celery runs it in each minute, since minute is missing"
    return Translation(f"{minute} {hour} {day} {month} {weekday}{_day_rule(day, weekday)}", caveat)


def apscheduler(text: str) -> Translation | None:
    """Return the cadence of ``CronTrigger(...)`` or ``IntervalTrigger(...)``; None for another text."""
    call = _call(text)
    if call is None:
        return None
    for ending, read in _TRIGGERS:
        if f".{call.name}".endswith(ending):
            named = {name: value for name, value in call.named.items() if name != "timezone"}
            found = read(call._replace(named=named))
            zone = call.named.get("timezone")
            return found and found._replace(text=found.text + (f" tz={zone}" if zone else ""))
    return None


def _from_crontab(call: _Call) -> Translation | None:
    fields = call.arguments[0].split() if call.arguments else []
    return Translation(_cron(dict(zip(_CRON, fields, strict=True)))) if len(fields) == len(_CRON) else None


def _interval_trigger(call: _Call) -> Translation | None:
    lengths = call.named
    is_known = {*lengths} <= {"weeks", "days", "hours", "minutes", "seconds"}
    if call.arguments or not lengths or not is_known or not all(map(str.isdigit, lengths.values())):
        return None
    return Translation(_interval(lengths))


def _cron_trigger(call: _Call) -> Translation | None:
    given = {**dict(zip(APSCHEDULER, call.arguments, strict=False)), **call.named}
    is_known = given and {*given} <= {*APSCHEDULER} and len(call.arguments) <= len(APSCHEDULER)
    if not is_known or given.get("week", "*") != "*":
        return None
    year = given.get("year", "*")
    caveat = "" if year == "*" else f"no cadence has years, so remove it from the code after {year}"
    return Translation(_cron(_with_defaults(given)), caveat)


_TRIGGERS = (
    (".CronTrigger.from_crontab", _from_crontab),
    (".IntervalTrigger", _interval_trigger),
    (".CronTrigger", _cron_trigger),
)


def _with_defaults(given: Mapping[str, str]) -> Mapping[str, str]:
    last = max(APSCHEDULER.index(name) for name in given)
    return {
        name: given.get(name, _LOWEST.get(name, "*") if at > last else "*")
        for at, name in enumerate(APSCHEDULER)
    }


def _cron(fields: Mapping[str, str]) -> str:
    weekday = _weekdays(fields["day_of_week"])
    day, weekday = _day(fields["day"], weekday)
    second = fields.get("second", "0")
    leading = "" if second == "0" else f"{second} "
    hours = f"{fields['minute']} {fields['hour']} {day} {fields['month']} {weekday}"
    return leading + hours + _day_rule(day, weekday)


def _day(day: str, weekday: str) -> tuple[str, str]:
    """Return both day fields: APScheduler's ``3rd fri`` is a weekday in cron."""
    if day == "last":
        return "L", weekday
    found = re.fullmatch(r"(last|[1-5](?:st|nd|rd|th)) ?([a-z]{3})", day)
    if found is None:
        return day, weekday
    name = found[2].upper()
    nth = f"{name}L" if found[1] == "last" else f"{name}#{_ORDINALS.get(found[1], '?')}"
    return "*", nth if weekday == "*" else "?!"  # both together are no cron expression


def _weekdays(text: str) -> str:
    """Return a day-of-week field by name, its numbers counted from Monday, 0."""
    if text == "*":
        return text
    days = list[str]()
    for item in text.lower().split(","):
        values, _, step = item.partition("/")
        first, _, last = ("0-6" if values == "*" else values).partition("-")
        low, high = _from_monday(first), _from_monday(last or (first if not step else "6"))
        if low is None or high is None or not (step or "1").isdigit() or step == "0":
            return "?!"
        days += _FROM_MONDAY[low : high + 1 : int(step or 1)]
    return ",".join(dict.fromkeys(days))


def _from_monday(text: str) -> int | None:
    if text in _FROM_MONDAY:
        return _FROM_MONDAY.index(text)
    return int(text) if text in tuple("0123456") else None


def _interval(lengths: Mapping[str, str]) -> str:
    weeks = int(lengths.get("weeks", 0))
    parts = {"d": int(lengths.get("days", 0)) + 7 * weeks}
    parts |= {unit[0]: int(lengths.get(unit, 0)) for unit in ("hours", "minutes", "seconds")}
    return "interval " + "".join(f"{count}{unit}" for unit, count in parts.items() if count)


def _day_rule(day: str, weekday: str) -> str:
    return "" if "*" in (day, weekday) else " day_rule=and"


def _call(text: str) -> _Call | None:
    """Return a call with literal arguments; None for anything else."""
    try:
        node = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name | ast.Attribute):
        return None
    arguments = [_literal(argument) for argument in node.args]
    named = {word.arg: _literal(word.value) for word in node.keywords if word.arg}
    values = [value for value in (*arguments, *named.values()) if value is not None]
    if len(values) != len(node.args) + len(node.keywords):
        return None
    return _Call(
        ast.unparse(node.func),
        [value for value in arguments if value is not None],
        {name: value for name, value in named.items() if value is not None},
    )


def _literal(node: ast.expr) -> str | None:
    """Return a number, a text, or the items of a list with commas between them."""
    match node:
        case ast.Constant(value=bool()):
            return None
        case ast.Constant(value=int() | str() as value):
            return ",".join(part.strip() for part in str(value).split(","))
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            values = [_literal(item) for item in items]
            present = [value for value in values if value is not None]
            return ",".join(present) if present and len(present) == len(values) else None
        case ast.Call(
            func=ast.Name(id="ZoneInfo") | ast.Attribute(attr="ZoneInfo" | "timezone"), args=[zone]
        ):
            return _literal(zone)
    return None
