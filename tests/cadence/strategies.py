"""Random cron expressions, zones and instants, many of them near a clock change."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import strategies as st

MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
WEEKDAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]

ZONES = tuple(sorted(name for name in available_timezones() if name not in ("localtime", "Factory")))
SUITE_ZONES = {
    "Africa/Casablanca": "winter time is the exception: the clocks go back for Ramadan",
    "Africa/Freetown": "its changes of September 1939 are 3.9 days apart, the closest of all zones",
    "America/Juneau": "it crossed the date line in 1867, and its first offset has seconds",
    "America/New_York": "the usual hour, at 02:00 of local time",
    "America/Sao_Paulo": "the clocks changed at midnight, so some days begin at 01:00",
    "Antarctica/Troll": "a change of two hours",
    "Asia/Gaza": "the changes follow Ramadan, and the file lists each of them until 2086",
    "Australia/Lord_Howe": "a change of half an hour, in the southern summer",
    "Europe/Dublin": "the IANA database has a negative winter time",
    "Europe/Paris": "the usual hour, at 01:00 UTC; several changes a year in the 1940s",
    "Pacific/Apia": "it skipped a whole day in 2011",
    "UTC": "no change",
}
"""The twelve zones of the suite, each with its special rule; ``make proof`` runs the others."""
CHANGING = (
    *SUITE_ZONES,
    "Africa/Cairo",
    "America/Santiago",
    "America/Scoresbysund",
    "America/St_Johns",
    "Antarctica/Casey",
    "Asia/Amman",
    "Asia/Pyongyang",
    "Asia/Tehran",
    "Atlantic/Azores",
    "Europe/Volgograd",
    "Pacific/Chatham",
    "Pacific/Norfolk",
)


def zone_params(zones: Iterable[str]) -> list[object]:
    """Return zones as parameters of a test; those beyond the twelve have the marker ``long``."""
    return [pytest.param(name, marks=() if name in SUITE_ZONES else pytest.mark.long) for name in zones]


def changes(tz: str, first: int = 1990, last: int = 2037) -> list[datetime]:
    """Return the instants, to the minute, at which a zone's offset changes."""
    zone = ZoneInfo(tz)
    found = []
    at = datetime(first, 1, 1, tzinfo=UTC)
    while at.year <= last:
        following = at + timedelta(hours=6)
        if at.astimezone(zone).utcoffset() != following.astimezone(zone).utcoffset():
            minute = at
            while minute.astimezone(zone).utcoffset() == at.astimezone(zone).utcoffset():
                minute += timedelta(minutes=1)
            found.append(minute)
        at = following
    return found


_changes: dict[str, list[datetime]] = {}


def _known_changes(tz: str) -> list[datetime]:
    if tz not in _changes:
        _changes[tz] = changes(tz, 2005, 2030)
    return _changes[tz]


@st.composite
def zoned_starts(draw: st.DrawFn) -> tuple[str, datetime]:
    """Draw a zone, and an instant on a whole minute, often within two days before a change."""
    tz = draw(st.sampled_from(CHANGING) | st.sampled_from(ZONES))
    near = _known_changes(tz) if tz in CHANGING else []
    if near and draw(st.integers(0, 3)):
        return tz, draw(st.sampled_from(near)) - timedelta(minutes=draw(st.integers(0, 60 * 30)))
    minutes = draw(st.integers(0, 60 * 24 * 365 * 20))
    return tz, datetime(2010, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes)


def numbers(low: int, high: int, names: list[str] | None = None, first: int = 0) -> st.SearchStrategy[str]:
    plain = st.integers(low, high).map(str)
    return plain if names is None else plain | st.sampled_from(names)


def items(low: int, high: int, names: list[str] | None = None) -> st.SearchStrategy[str]:
    value = numbers(low, high, names)
    step = st.integers(1, high).map(lambda n: f"/{n}")
    spans = st.tuples(value, value).map("-".join)
    return value | value | spans | st.tuples(spans, step).map("".join) | st.tuples(value, step).map("".join)


def fields(low: int, high: int, names: list[str] | None = None) -> st.SearchStrategy[str]:
    several = st.lists(items(low, high, names), min_size=1, max_size=3).map(",".join)
    starred = st.integers(1, high).map(lambda n: f"*/{n}")
    return st.just("*") | several | starred


day_items = items(1, 31) | st.sampled_from(["L", "LW", "1W", "15W", "31W", "L-1", "L-10", "L-30", "L-2W"])
weekday_items = (
    items(0, 7, WEEKDAYS)
    | st.tuples(numbers(0, 7, WEEKDAYS), st.integers(1, 5)).map(lambda pair: f"{pair[0]}#{pair[1]}")
    | numbers(0, 7, WEEKDAYS).map(lambda day: f"{day}L")
)
day_fields = st.sampled_from(["*", "?"]) | st.lists(day_items, min_size=1, max_size=3).map(",".join)
weekday_fields = st.sampled_from(["*", "?"]) | st.lists(weekday_items, min_size=1, max_size=3).map(",".join)
month_fields = st.just("*") | fields(1, 12, MONTHS)

expressions = st.tuples(fields(0, 59), fields(0, 23), day_fields, month_fields, weekday_fields).map(" ".join)
"""Expressions of five fields; some never fire, and some need a day rule."""
timely = st.tuples(fields(0, 59), fields(0, 23), st.just("*"), st.just("*"), st.just("*")).map(" ".join)
"""Expressions that run every day, so that clock changes are likely to affect them."""
