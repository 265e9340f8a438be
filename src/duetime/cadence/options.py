"""Modifiers as text: the options of a cadence's text, part of its name, and plain English."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from duetime._english import counted
from duetime.cadence.calendars import WEEKEND, Calendar
from duetime.cadence.days import ALL_MONTHS, ALL_WEEKDAYS, ALL_WEEKS
from duetime.cadence.errors import InvalidCadence
from duetime.cadence.modifiers import Modifiers
from duetime.cadence.words import (
    clock_text,
    duration_text,
    duration_words,
    listed,
    months_text,
    months_words,
    weekdays_mask,
    weekdays_text,
    weekdays_words,
    weeks_text,
    windows_text,
)

if TYPE_CHECKING:
    from duetime.cadence.bounds import Bounds

LONGEST_NAME = 64
"""Characters of a name at most: the limit of an EventBridge schedule's name."""
_DIGEST = 8
_MOST_LISTED = 3
_NONE = "none"
_MOVES = {
    "skip": "",
    "next_business_day": " (moved to the next business day)",
    "previous_business_day": " (moved to the previous business day)",
    "business_day_of_month": " (moved to the next business day of the month, else to the previous one)",
}


def options_text(modifiers: Modifiers) -> str:
    """Return the modifiers as ``key=value`` words in a fixed order, each after a space; empty without any."""
    return "".join(f" {key}={value}" for key, value in _options(modifiers))


def _options(modifiers: Modifiers) -> list[tuple[str, str]]:
    bounds = stated(modifiers.bounds, _BOUNDS) if modifiers.bounds else ()
    pairs = (*stated(modifiers, _FILTERS), *bounds, *stated(modifiers, _ZONE))
    return [("window" if name == "windows" else name, value) for name, value in pairs]


def stated(options: Any, written: Mapping[str, Callable[[Any], str]]) -> Iterator[tuple[str, str]]:
    """Yield the options whose values differ from their defaults, each with its text.

    An empty value is left out only if it is the default.

    Args:
        options: a dataclass, whose defaults are those of the options.
        written: the function that writes each option, in order.
    """
    defaults = {field.name: field.default for field in fields(options)}
    for name, write in written.items():
        if (value := getattr(options, name)) != defaults[name]:
            yield name, write(value)


def options_name(modifiers: Modifiers) -> str:
    """Return the modifiers as part of a name, without the default zone: settings must not change a name."""
    parts = [_named(key, value, modifiers) for key, value in _options(modifiers) if key != "default_tz"]
    return "".join(f"_{part}" for part in parts)


def _named(key: str, value: str, modifiers: Modifiers) -> str:
    if key == "calendar" and modifiers.calendar is not None:
        return f"cal-{modifiers.calendar.name or digest(value)}" + "".join(
            f"-{digest(rules)}"
            for rules in [";".join(re.findall(r"(?:instead|weekends?|working):[^;]*", value))]
            if modifiers.calendar.name and rules
        )
    if key == "window":
        return value.replace(":", "")
    if key in ("offset", "start", "end", "count", "except_at", "spread"):
        return f"{key.partition('_')[0]}-{value.replace(':', '')}"
    return value


def options_words(modifiers: Modifiers) -> str:
    """Return the modifiers in plain English, as clauses that each follow a comma."""
    clauses = []
    if modifiers.offset is not None:
        count, unit = abs(modifiers.offset.days), "business day" if modifiers.offset.is_business else "day"
        clauses.append(f"{counted(count, unit)} {'earlier' if modifiers.offset.days < 0 else 'later'}")
    if modifiers.days != ALL_WEEKDAYS:
        clauses.append(f"on {weekdays_words(modifiers.days)}")
    if modifiers.weeks != ALL_WEEKS:
        clauses.append(f"in the {listed(weeks_text(modifiers.weeks).split(','))} week of the month")
    if modifiers.months != ALL_MONTHS:
        clauses.append(f"in {months_words(modifiers.months)}")
    if modifiers.windows:
        clauses.append(
            listed([f"from {clock_text(opens)} to {clock_text(shuts)}" for opens, shuts in modifiers.windows])
        )
    if modifiers.calendar is not None:
        clauses.append(_calendar_words(modifiers.calendar))
    if modifiers.bounds is not None:
        clauses += _bounds_words(modifiers.bounds)
    clauses.append(f"{modifiers.zone_name} time" if modifiers.zone_name != "UTC" else "UTC")
    if modifiers.dst != "cronos":
        clauses.append(f"clock changes as in {'vixie cron' if modifiers.dst == 'vixie' else 'EventBridge'}")
    return "".join(f", {clause}" for clause in clauses)


def _bounds_words(bounds: Bounds) -> list[str]:
    excluded = bounds.except_at
    texts = (
        f"from {bounds.start} on" * bool(bounds.start),
        f"until {bounds.end}" * bool(bounds.end),
        counted(bounds.count, "time") if bounds.count else "",
        f"except at {_entries_words(excluded, 'times')}" if excluded else "",
        _spread_words(bounds) if bounds.spread else "",
    )
    return [text for text in texts if text]


def _spread_words(bounds: Bounds) -> str:
    length = duration_words(bounds.spread)
    over = f"spread over {length if length[0].isdigit() else f'1 {length}'}"
    return f"{over}: {duration_text(bounds.delay)} later" if bounds.delay else over


def calendar_text(calendar: Calendar) -> str:
    """Return a calendar as one word, which :func:`parse_calendar` reads back."""
    return ";".join(f"{key}:{value}" for key, value in stated(calendar, _CALENDAR))


def parse_calendar(text: str) -> Calendar:
    """Return the calendar of a word.

    Raises:
        InvalidCadence: the word is no calendar.
    """
    entries: dict[str, Any] = {}
    for part in text.split(";"):
        key, _, value = part.partition(":")
        if key not in _CALENDAR or not value or key in entries:
            problem = f"{key} is given twice" if key in entries else "not a part of a calendar"
            raise InvalidCadence(part or text, f"calendar: {problem}", "write exclude:2026-12-25,sat")
        entries[key] = ([] if value == _NONE else value.split(",")) if _CALENDAR[key] is _list_text else value
    return Calendar(**entries)


def _list_text(entries: tuple[str, ...]) -> str:
    return ",".join(entries) or _NONE


_FILTERS: Mapping[str, Callable[[Any], str]] = {
    "days": weekdays_text,
    "months": months_text,
    "weeks": weeks_text,
    "windows": windows_text,
    "calendar": calendar_text,
    "offset": str,
}
_BOUNDS: Mapping[str, Callable[[Any], str]] = {
    "start": str,
    "end": str,
    "count": str,
    "except_at": _list_text,
    "spread": duration_text,
}
_ZONE: Mapping[str, Callable[[Any], str]] = {"tz": str, "default_tz": str, "dst": str}
_CALENDAR: Mapping[str, Callable[[Any], str]] = {
    "exclude": _list_text,
    "include": _list_text,
    "instead": str,
    "name": str,
    "through": str,
    "weekend": _list_text,
    "working": _list_text,
    "weekends": str,
    "unresolved": str,
}


def short_name(name: str) -> str:
    """Return a valid name, shortened with a digest if it is too long or has other characters."""
    plain = re.sub(r"[^A-Za-z0-9_.-]", "_", name.replace("+", "plus").replace(",", "."))
    if plain == name.replace(",", ".").replace("/", "_") and len(plain) <= LONGEST_NAME:
        return plain
    return f"{plain[: LONGEST_NAME - _DIGEST - 1]}_{digest(name)}"


def digest(text: str) -> str:
    """Return a digest of eight characters."""
    return sha256(text.encode()).hexdigest()[:_DIGEST]


def _calendar_words(calendar: Calendar) -> str:
    moved = "on weekends" * (calendar.moves and calendar.weekends == "move" and calendar.weekend != ())
    only, excluded = "", f"by the calendar {calendar.name}"
    if not calendar.name:
        only = f"only on {_entries_words(calendar.include)}" if calendar.include else ""
        excluded = f"on {_entries_words(calendar.exclude)}" if calendar.exclude else ""
    without = " and ".join(filter(None, (excluded, moved)))
    words = " and ".join(filter(None, (only, without and f"except {without}")))
    if calendar.weekend != WEEKEND:
        free = weekdays_words(weekdays_mask(calendar.weekend)) if calendar.weekend else "no day"
        words += f", with {free} as the weekend"
    if calendar.working and not calendar.name:
        words += f", with work on {_entries_words(calendar.working)}"
    return words + _MOVES[calendar.instead]


def _entries_words(entries: tuple[str, ...], of: str = "days") -> str:
    return listed(list(entries)) if len(entries) <= _MOST_LISTED else f"{len(entries)} listed {of}"
