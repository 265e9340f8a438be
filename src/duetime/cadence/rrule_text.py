"""Recurrence rules of iCalendar (RFC 5545, section 3.3.10), as cadences of duetime.

Imported only after a text has been rejected. Rules with ``INTERVAL``, ``BYSETPOS`` and other parts that no
cron expression has are not translated.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

_WEEKDAYS = {"SU": "SUN", "MO": "MON", "TU": "TUE", "WE": "WED", "TH": "THU", "FR": "FRI", "SA": "SAT"}
_PARTS = {"FREQ", "INTERVAL", "WKST", "BYSECOND", "BYMINUTE", "BYHOUR", "BYDAY", "BYMONTHDAY", "BYMONTH"}
_ENDS = {"COUNT", "UNTIL"}
_FREQUENCIES = ("MINUTELY", "HOURLY", "DAILY", "WEEKLY", "MONTHLY", "YEARLY")
_START = re.compile(r"DTSTART(?:;TZID=(?P<zone>[^:]+))?:(?P<date>\d{8})T(?P<time>\d{6})(?P<utc>Z?)\s+")
_FROM_SUNDAY = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")


class _Start(NamedTuple):
    second: str
    minute: str
    hour: str
    day: str
    month: str
    weekday: str


def rrule(text: str) -> tuple[str, str] | None:
    """Return the cadence of a rule, and what differs; None for another text.

    The times of day come from the rule, else from the line ``DTSTART`` before it.
    """
    started = _START.match(text)
    rule = text[started.end() :] if started else text
    if not rule.upper().startswith(("RRULE:", "FREQ=")):
        return None
    pairs = [pair.partition("=") for pair in rule.upper().removeprefix("RRULE:").strip(";").split(";")]
    parts = {name: value for name, _, value in pairs}
    is_known = {*parts} <= _PARTS | _ENDS and parts.get("FREQ") in _FREQUENCIES
    if not is_known or parts.get("INTERVAL", "1") != "1":
        return None
    fields = _fields(parts, _start(started) if started else None)
    if fields is None:
        return None
    caveat = "no cadence ends by itself: unregister the job then" if _ENDS & {*parts} else ""
    zone = started["zone"] or "UTC" * bool(started["utc"]) if started else ""
    return fields + f" tz={zone}" * bool(zone), caveat


def _start(found: re.Match[str]) -> _Start | None:
    from datetime import datetime  # noqa: PLC0415 - only needed for mistakes

    try:
        at = datetime.strptime(found["date"] + found["time"], "%Y%m%d%H%M%S")  # noqa: DTZ007 - a local time
    except ValueError:
        return None
    weekday = _FROM_SUNDAY[at.isoweekday() % 7]
    return _Start(str(at.second), str(at.minute), str(at.hour), str(at.day), str(at.month), weekday)


def _fields(parts: Mapping[str, str], start: _Start | None) -> str | None:
    rank = _FREQUENCIES.index(parts["FREQ"])
    second = parts.get("BYSECOND", start.second if start else "0")
    minute = parts.get("BYMINUTE", "*" if rank == 0 else start and start.minute)
    hour = parts.get("BYHOUR", "*" if rank <= 1 else start and start.hour)
    if minute is None or hour is None:
        return None  # without a start, the times of day are unknown
    days = _days(parts, rank, start)
    month = parts.get("BYMONTH", "*")
    if parts["FREQ"] == "YEARLY" and month == "*":
        month = start.month if start and "BYDAY" not in parts else ""
    if days is None or not month:
        return None
    day, weekday = days
    rule = "" if "*" in (day, weekday) else " day_rule=and"
    leading = "" if second == "0" else f"{second} "
    return f"{leading}{minute} {hour} {day} {month} {weekday}{rule}"


def _days(parts: Mapping[str, str], rank: int, start: _Start | None) -> tuple[str, str] | None:
    """Return day-of-month and day-of-week; None if they are unknown, or no cron expression has them."""
    is_weekly, is_monthly = parts["FREQ"] == "WEEKLY", rank >= _FREQUENCIES.index("MONTHLY")
    day, weekday = "*", "*"
    if "BYMONTHDAY" in parts:
        day = ",".join(_month_day(number) for number in parts["BYMONTHDAY"].split(","))
    if "BYDAY" in parts:
        found = [re.fullmatch(r"([+-]?\d)?([A-Z]{2})", entry) for entry in parts["BYDAY"].split(",")]
        names = [_weekday(entry, is_monthly=is_monthly) for entry in found if entry]
        if len(names) != len(found) or None in names:
            return None
        weekday = ",".join(filter(None, names))
    if (day, weekday) == ("*", "*") and (is_weekly or is_monthly):
        if start is None:
            return None
        return ("*", start.weekday) if is_weekly else (start.day, "*")
    return day, weekday


def _month_day(number: str) -> str:
    if not number.startswith("-"):
        return number.removeprefix("+")
    return "L" if number == "-1" else f"L-{int(number[1:]) - 1}" if number[1:].isdigit() else "?!"


def _weekday(entry: re.Match[str], *, is_monthly: bool) -> str | None:
    name = _WEEKDAYS.get(entry[2])
    if name is None or entry[1] is None:
        return name
    if not is_monthly:
        return None
    nth = int(entry[1])
    if nth == -1:
        return f"{name}L"
    return f"{name}#{nth}" if nth > 0 else None
