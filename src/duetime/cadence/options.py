"""Modifiers as text: the options of a cadence's text, part of its name, and plain English."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import TYPE_CHECKING

from duetime._english import counted
from duetime.cadence.calendars import WEEKEND, Calendar
from duetime.cadence.day_fields import ALL_MONTHS, ALL_WEEKDAYS, ALL_WEEKS
from duetime.cadence.durations import duration_text, duration_words
from duetime.cadence.errors import InvalidCadence
from duetime.cadence.modifiers import Modifiers
from duetime.cadence.words import (
    clock_text,
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
_CALENDAR = ("exclude", "include", "instead", "name", "through", "weekend")
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
    pairs = [
        ("days", weekdays_text(modifiers.days) if modifiers.days != ALL_WEEKDAYS else ""),
        ("months", months_text(modifiers.months) if modifiers.months != ALL_MONTHS else ""),
        ("weeks", weeks_text(modifiers.weeks) if modifiers.weeks != ALL_WEEKS else ""),
        ("window", windows_text(modifiers.windows)),
        ("calendar", calendar_text(modifiers.calendar) if modifiers.calendar else ""),
        ("offset", str(modifiers.offset or "")),
        *(_bounds(modifiers.bounds) if modifiers.bounds else ()),
        ("tz", modifiers.tz or ""),
        ("default_tz", modifiers.default_tz or ""),
        ("dst", modifiers.dst if modifiers.dst != "cronos" else ""),
    ]
    return [(key, value) for key, value in pairs if value]


def _bounds(bounds: Bounds) -> list[tuple[str, str]]:
    return [
        ("start", bounds.start),
        ("end", bounds.end),
        ("count", str(bounds.count or "")),
        ("except_at", ",".join(bounds.except_at)),
        ("spread", duration_text(bounds.spread)),
    ]


def options_name(modifiers: Modifiers) -> str:
    """Return the modifiers as part of a name, without the default zone: settings must not change a name."""
    parts = [_named(key, value, modifiers) for key, value in _options(modifiers) if key != "default_tz"]
    return "".join(f"_{part}" for part in parts)


def _named(key: str, value: str, modifiers: Modifiers) -> str:
    if key == "calendar" and modifiers.calendar is not None:
        return f"cal-{modifiers.calendar.name or digest(value)}"
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
        when = "earlier" if modifiers.offset.days < 0 else "later"
        clauses.append(f"{counted(count, unit)} {when}")
    if modifiers.days != ALL_WEEKDAYS:
        clauses.append(f"on {weekdays_words(modifiers.days)}")
    if modifiers.weeks != ALL_WEEKS:
        clauses.append(f"in the {listed(weeks_text(modifiers.weeks).split(','))} week of the month")
    if modifiers.months != ALL_MONTHS:
        clauses.append(f"in {months_words(modifiers.months)}")
    if modifiers.windows:
        windows = [f"from {clock_text(opens)} to {clock_text(shuts)}" for opens, shuts in modifiers.windows]
        clauses.append(listed(windows))
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
    pairs = [
        ("exclude", ",".join(calendar.exclude)),
        ("include", ",".join(calendar.include)),
        ("instead", calendar.instead if calendar.moves else ""),
        ("name", calendar.name or ""),
        ("through", calendar.through or ""),
        ("weekend", ",".join(calendar.weekend) if calendar.weekend != WEEKEND else ""),
    ]
    return ";".join(f"{key}:{value}" for key, value in pairs if value)


def parse_calendar(text: str) -> Calendar:
    """Return the calendar of a word.

    Raises:
        InvalidCadence: the word is no calendar.
    """
    entries: dict[str, str] = {}
    for part in text.split(";"):
        key, _, value = part.partition(":")
        if key not in _CALENDAR or not value:
            raise InvalidCadence(
                part or text, "calendar: not a part of a calendar", "write exclude:2026-12-25,sat"
            )
        entries[key] = value
    return Calendar(
        exclude=entries["exclude"].split(",") if "exclude" in entries else (),
        include=entries["include"].split(",") if "include" in entries else (),
        instead=entries.get("instead", "skip"),  # type: ignore[arg-type]  # Calendar rejects unknown values
        name=entries.get("name"),
        through=entries.get("through"),
        weekend=entries["weekend"].split(",") if "weekend" in entries else WEEKEND,
    )


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
    if calendar.name:
        words = f"except by the calendar {calendar.name}"
    else:
        only = f"only on {_entries_words(calendar.include)}" if calendar.include else ""
        without = f"except on {_entries_words(calendar.exclude)}" if calendar.exclude else ""
        words = " and ".join(filter(None, (only, without)))
    if calendar.weekend != WEEKEND:
        free = weekdays_words(weekdays_mask(calendar.weekend)) if calendar.weekend else "no day"
        words += f", with {free} as the weekend"
    return words + _MOVES[calendar.instead]


def _entries_words(entries: tuple[str, ...], of: str = "days") -> str:
    return listed(list(entries)) if len(entries) <= _MOST_LISTED else f"{len(entries)} listed {of}"
