"""Celery's ``crontab(...)`` and APScheduler's triggers, as cadences of duetime.

Imported only after a text has been rejected. A call is read as Python, never run. Both libraries run on days
that match each of their day fields. Celery's positional order is minute, hour, day of week, day of month,
month of year (``celery.schedules.crontab``). In APScheduler a weekday's number counts from Monday, 0, and a
field less significant than the last given one has its lowest value (``apscheduler.triggers.cron``).
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import NamedTuple

from duetime.cadence.durations import duration_text
from duetime.cadence.fields import FieldError
from duetime.cadence.foreign_cron import APSCHEDULER, APSCHEDULER_EITHER, CELERY, FIVE, Suggestion, cron_text

_CELERY = {
    "minute": "minute",
    "hour": "hour",
    "day_of_week": "weekday",
    "day_of_month": "day",
    "month_of_year": "month",
}
_APSCHEDULER = ("year", "month", "day", "week", "day_of_week", "hour", "minute", "second")
_LOWEST = {"month": "1", "day": "1", "hour": "0", "minute": "0", "second": "0"}
_UNITS = ("weeks", "days", "hours", "minutes", "seconds")
_ORDINALS = {"1st": "#1", "2nd": "#2", "3rd": "#3", "4th": "#4", "5th": "#5", "last": "L"}


class _Call(NamedTuple):
    name: str
    arguments: Sequence[str]
    named: Mapping[str, str]

    def given(self, names: Sequence[str]) -> dict[str, str]:
        """Return the arguments by their names.

        Raises:
            FieldError: one has no such name.
        """
        found = {**dict(zip(names, self.arguments, strict=False)), **self.named}
        if len(self.arguments) > len(names) or not {*found} <= {*names}:
            unknown = next((name for name in found if name not in names), "arguments")
            raise FieldError(unknown, "no cadence has this option", f"use {', '.join(names)}")
        return found


def celery(text: str) -> Suggestion | None:
    """Return the cadence of ``crontab(...)``; None for another text.

    Raises:
        FieldError: no cadence is like it.
    """
    call = _call(text)
    if call is None or call.name.rpartition(".")[2].lower() != "crontab":
        return None
    given = call.given([*_CELERY])
    caveat = "" if "minute" in given else "Celery runs it in each minute, since minute is missing"
    fields = [given.get(name, "*") for name in _CELERY]
    return Suggestion(cron_text(CELERY, [*_CELERY.values()], fields), caveat)


def apscheduler(text: str) -> Suggestion | None:
    """Return the cadence of ``CronTrigger(...)`` or ``IntervalTrigger(...)``; None for another text.

    Raises:
        FieldError: no cadence is like it.
    """
    call = _call(text)
    if call is None:
        return None
    for ending, read in _TRIGGERS:
        if f".{call.name}".endswith(ending):
            others = dict(call.named)
            options = {option: others.pop(name, "") for name, option in _OPTIONS[read is _interval_trigger]}
            written = "".join(
                f" {option}={value.replace(' ', 'T')}" for option, value in options.items() if value
            )
            return Suggestion(read(call._replace(named=others)) + written)
    return None


def _from_crontab(call: _Call) -> str:
    return cron_text(APSCHEDULER, FIVE, call.given(["expr"]).get("expr", "").split())


def _interval_trigger(call: _Call) -> str:
    lengths = call.given(_UNITS)
    if not lengths or not all(map(str.isdigit, lengths.values())):
        raise FieldError("interval", "it has no whole numbers", "write it as in interval 90m")
    length = timedelta(**{unit: int(number) for unit, number in lengths.items()})
    return f"interval {duration_text(int(length.total_seconds()))}"


def _cron_trigger(call: _Call) -> str:
    given = call.given(_APSCHEDULER)
    last = max((_APSCHEDULER.index(name) for name in given), default=len(_APSCHEDULER))
    fields = {
        "weekday" if name == "day_of_week" else name: given.get(
            name, _LOWEST.get(name, "*") if at > last else "*"
        )
        for at, name in enumerate(_APSCHEDULER)
    }
    if fields.pop("week") != "*":
        raise FieldError("week", "no cadence has the weeks of a year", "list the dates")
    if fields["second"] == "0":
        del fields["second"]
    items = [item.split() for item in fields["day"].lower().split(",")]
    counted = [f"{name.upper()}{_ORDINALS.get(which, '#')}" for which, *names in items for name in names]
    plain = ["L" if which == "last" else which for which, *names in items if not names]
    if counted and (fields["weekday"] != "*" or "*" in plain):
        raise FieldError("day", "it counts weekdays beside other days", "declare a cadence for each")
    fields |= {"day": ",".join(plain) or "*", "weekday": ",".join(counted) or fields["weekday"]}
    return cron_text(APSCHEDULER_EITHER if counted else APSCHEDULER, [*fields], [*fields.values()])


_OPTIONS = (
    (("start_date", "start"), ("end_date", "end"), ("timezone", "tz")),
    (("end_date", "end"), ("timezone", "tz")),
)
"""The options that all triggers share, and those of an interval, which counts from its start."""
_TRIGGERS = (
    (".CronTrigger.from_crontab", _from_crontab),
    (".IntervalTrigger", _interval_trigger),
    (".CronTrigger", _cron_trigger),
)


def _call(text: str) -> _Call | None:
    """Return a call with literal arguments; None for anything else."""
    try:
        node = ast.parse(text, mode="eval").body
        if not isinstance(node, ast.Call):
            return None
        named = {str(word.arg): _literal(word.value) for word in node.keywords if not _is_none(word.value)}
        return _Call(ast.unparse(node.func), [_literal(argument) for argument in node.args], named)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _is_none(node: ast.expr) -> bool:
    """Return whether an argument is None, as if it were missing."""
    return isinstance(node, ast.Constant) and node.value is None


def _literal(node: ast.expr) -> str:
    """Return a number, a text, the name of a zone, or the items of a list with commas between them.

    Another value, as that of a variable, is returned as its expression, which no field reads.
    """
    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("ZoneInfo", "timezone", "gettz")):
        node = node.args[0] if node.args else node
    if ast.unparse(node).rpartition(".")[2].upper() == "UTC":
        return "UTC"
    try:
        value = ast.literal_eval(node)
    except ValueError:
        value = f"({ast.unparse(node)})"
    items = value if isinstance(value, list | tuple | set) else str(value).split(",")
    return "UTC" if str(value).upper() == "UTC" else ",".join(str(item).strip() for item in items)
