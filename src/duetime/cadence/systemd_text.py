"""systemd's calendar events (``OnCalendar=``), as cadences of duetime.

Imported only after a text has been rejected. The rules are those of systemd.time(7): a run needs a matching
weekday and a matching date; ``..`` is a range, ``a/n`` every n-th value from a on, ``~n`` the n-th last day.
"""

from __future__ import annotations

import re

_WORDS = {
    "minutely": "@every_minute",
    "hourly": "@hourly",
    "quarterly": "0 0 1 1,4,7,10 *",
    "semiannually": "0 0 1 1,7 *",
    "yearly": "@yearly",
    "annually": "@yearly",
}
_VALUES = r"[\d*.,/]+"
_TEXT = re.compile(
    r"(?:(?P<days>[A-Z][a-z]{2,}(?:(?:\.\.|,)[A-Z][a-z]{2,})*)(?:\s+|$))?"
    rf"(?:(?:(?P<year>{_VALUES})-)?(?P<month>{_VALUES})(?P<sign>[-~])(?P<day>{_VALUES})(?:\s+|$))?"
    rf"(?:(?P<hour>{_VALUES}):(?P<minute>{_VALUES})(?::(?P<second>{_VALUES}))?)?"
    r"(?:\s+(?P<zone>[A-Za-z_]+(?:/\S+)?))?"
)
_HIGHEST = {"month": 12, "day": 31, "hour": 23, "minute": 59, "second": 59}


def systemd_word(text: str) -> str | None:
    """Return the cadence of one of systemd's words, such as ``quarterly``; None for another text.

    ``daily``, ``weekly`` and ``monthly`` are words of duetime too, and lack their time.
    """
    return _WORDS.get(text.lower())


def systemd_calendar(text: str) -> str | None:
    """Return the cadence of a calendar event; None for another text."""
    found = _TEXT.fullmatch(text)
    if not found or not (found["days"] or found["day"] or found["hour"]):
        return None
    if found["hour"] and not (found["days"] or found["day"]) and re.fullmatch(r"[\d:]+", text):
        return None  # a time of day alone is a common mistake, of no scheduler
    if (found["year"] or "*") != "*":
        return None
    weekdays = re.sub(r"([A-Za-z]{3})[a-z]*", r"\1", found["days"] or "").replace("..", "-").lower()
    zone = f" tz={found['zone']}" if found["zone"] else ""
    return (_daily(found, weekdays) or _cron(found, weekdays)) + zone


def _daily(found: re.Match[str], weekdays: str) -> str | None:
    """Return the shorter text of one time of day; None if it needs a cron expression."""
    time = ":".join(found[unit] for unit in ("hour", "minute", "second") if found[unit])
    day, month = found["day"] or "*", found["month"] or "*"
    is_plain = re.fullmatch(r"\d{1,2}:\d\d(?::\d\d)?", time) and re.fullmatch(r"[\d,]+|\*", day)
    if not is_plain or month != "*" or found["sign"] == "~":
        return None
    kind = "daily" if day == "*" else f"monthly {','.join(str(int(number)) for number in day.split(','))}"
    return f"{kind} {time}" + f" days={weekdays}" * bool(weekdays)


def _cron(found: re.Match[str], weekdays: str) -> str:
    hour, minute = (_field(found[unit] or "0", unit) for unit in ("hour", "minute"))
    second = _field(found["second"] or "0", "second")
    month = _field(found["month"] or "*", "month")
    day = _from_the_end(found["day"]) if found["sign"] == "~" else _field(found["day"] or "*", "day")
    rule = " day_rule=and" if weekdays and day != "*" else ""
    leading = "" if second == "0" else f"{second} "
    return f"{leading}{minute} {hour} {day} {month} {weekdays or '*'}{rule}"


def _field(text: str, unit: str) -> str:
    return ",".join(_item(item, unit) for item in text.split(","))


def _item(item: str, unit: str) -> str:
    values, slash, step = item.partition("/")
    values = re.sub(r"\d+", lambda number: str(int(number[0])), values.replace("..", "-"))
    if not slash or values == "*" or "-" in values:
        return values + slash + step
    return f"*/{step}" if values == "0" else f"{values}-{_HIGHEST[unit]}/{step}"


def _from_the_end(day: str) -> str:
    return ",".join("L" if int(n) == 1 else f"L-{int(n) - 1}" for n in day.split(",") if n.isdigit()) or "?!"
