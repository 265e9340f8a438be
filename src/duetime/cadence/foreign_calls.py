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

from duetime.cadence.fields import FieldError
from duetime.cadence.foreign_cron import APSCHEDULER, CELERY, FIVE, Suggestion, cron_text, named

_CELERY = {
    "minute": "minute",
    "hour": "hour",
    "day_of_week": "weekday",
    "day_of_month": "day",
    "month_of_year": "month",
}
_APSCHEDULER = ("year", "month", "day", "week", "day_of_week", "hour", "minute", "second")
_LOWEST = {"month": "1", "day": "1", "hour": "0", "minute": "0", "second": "0"}
_UNITS = {"weeks": "d", "days": "d", "hours": "h", "minutes": "m", "seconds": "s"}
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
    fields = {ours: given.get(name, "*") for name, ours in _CELERY.items()}
    return Suggestion(cron_text(CELERY, fields), caveat)


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
            zone = call.named.get("timezone")
            others = {name: value for name, value in call.named.items() if name != "timezone"}
            return Suggestion(read(call._replace(named=others)) + (f" tz={zone}" if zone else ""))
    return None


def _from_crontab(call: _Call) -> str:
    return cron_text(APSCHEDULER, named(FIVE, call.given(["expr"]).get("expr", "").split()))


def _interval_trigger(call: _Call) -> str:
    lengths = call.given([*_UNITS])
    if not lengths or not all(map(str.isdigit, lengths.values())):
        raise FieldError("interval", "it has no whole numbers", "write it as in interval 90m")
    days = int(lengths.pop("weeks", 0)) * 7 + int(lengths.pop("days", 0))
    parts = {"days": days, **{unit: int(length) for unit, length in lengths.items()}}
    return "interval " + "".join(f"{parts[unit]}{_UNITS[unit]}" for unit in _UNITS if parts.get(unit))


def _cron_trigger(call: _Call) -> str:
    given = call.given(_APSCHEDULER)
    last = max((_APSCHEDULER.index(name) for name in given), default=len(_APSCHEDULER))
    fields = {
        name: given.get(name, _LOWEST.get(name, "*") if at > last else "*")
        for at, name in enumerate(_APSCHEDULER)
    }
    if fields.pop("week") != "*":
        raise FieldError("week", "no cadence has the weeks of a year", "list the dates")
    if fields["second"] == "0":
        del fields["second"]
    weekday = fields.pop("day_of_week")
    items = [re.sub(r"\s+", " ", item) for item in fields["day"].lower().split(",")]
    counted = [item for item in items if " " in item]
    plain = ["L" if item == "last" else item for item in items if " " not in item]
    if not counted:
        return cron_text(APSCHEDULER, {**fields, "day": ",".join(plain), "weekday": weekday})
    if weekday != "*" or "*" in plain:
        raise FieldError("day", "it counts weekdays beside other days", "declare a cadence for each")
    pairs = [item.split(" ") for item in counted]
    nth = ",".join(f"{name.upper()}{_ORDINALS.get(which, '#')}" for which, name in pairs)
    either = APSCHEDULER._replace(day_rule="vixie")
    return cron_text(either, {**fields, "day": ",".join(plain) or "*", "weekday": nth})


_TRIGGERS = (
    (".CronTrigger.from_crontab", _from_crontab),
    (".IntervalTrigger", _interval_trigger),
    (".CronTrigger", _cron_trigger),
)


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
        case ast.Constant(value=int() | float() | str() as value):
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
