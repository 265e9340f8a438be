"""A cadence's text says all that the object says, whichever of its arguments are absent, empty or all."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from duetime.cadence import (
    Cadence,
    Calendar,
    InvalidCadence,
    business_day,
    cron,
    daily,
    every,
    from_rrule,
    from_systemd,
    interval,
    manual,
    monthly,
    nth_weekday,
    on_event,
    once,
    parse,
    weekly,
    yearly,
)
from duetime.cadence.options import calendar_text, parse_calendar

ABSENT = object()
WEEK = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
CALENDAR: dict[str, list[Any]] = {
    "exclude": [ABSENT, [], ["2026-12-25"], WEEK[:6], ["12-25", "sat"], ["2026-01-01", "2027-01-01"]],
    "include": [ABSENT, [], ["mon"], WEEK, ["2027-06-01"]],
    "instead": [ABSENT, "skip", "next_business_day", "business_day_of_month"],
    "weekends": [ABSENT, "move", "keep"],
    "working": [ABSENT, [], ["2026-02-28"], ["2026-02-28", "2027-02-28"]],
    "name": [ABSENT, None, "", "fr"],
    "through": [ABSENT, None, "2028-12-31"],
    "weekend": [ABSENT, [], ["fri"], ["sat", "sun"], WEEK[:6], WEEK],
    "unresolved": [ABSENT, None, "", "DE-BE", "DE BE", "DE;name:x"],
}
_MODIFIERS: dict[str, list[Any]] = {
    "tz": [None, "", "UTC", "Europe/Paris", ZoneInfo("Asia/Tokyo"), "Etc/GMT+1"],
    "dst": ["cronos", "vixie", "eventbridge", ""],
    "days": [None, [], "mon", "mon-sun", "sat,sun"],
    "months": [None, [], "mar", "jan-dec", [1, 2]],
    "weeks": [None, [], "first", "first,second,third,fourth,fifth,last", "last"],
    "window": [None, [], "00:00-00:00", "00:00-23:59:59", ["09:00-12:00", "13:00-17:00"]],
    "calendar": [None],
    "start": [None, "", "2027-01-04", "2027-01-04T00:00", "2027-01-04T09:00Z"],
    "end": [None, "", "2037-01-04", "2037-01-04T00:00", "2037-01-04T09:00Z"],
    "count": [None, 0, 1, 10],
    "except_at": [None, [], "2027-01-04T09:00", ["2027-01-05T09:00", "2027-01-05T09:00Z"]],
    "spread": [None, "", timedelta(0), "1m", "10m", "59s", timedelta(minutes=1)],
}
_OF_DAYS = {**_MODIFIERS, "offset": [None, "", "0d", "1d", "-1d", "2b"]}
_CYCLE = {"every": [1, 2, 0], "anchor": [None, "", "2026-01-05"]}
_LENGTHS = {"hours": [None, 0, 1, 24], "minutes": [None, 0, 7, 60], "seconds": [None, 0, 30]}
Arguments = dict[str, list[Any]]
_INTERVALS = {key: values for key, values in _MODIFIERS.items() if key not in ("dst", "start")}
KINDS: dict[Callable[..., Cadence], Arguments] = {
    cron: {
        **_OF_DAYS,
        "expression": [
            "0 0 * * *",
            "0 0 * * MON",
            "0 0 0 * * MON",
            "0 0 * * * MON",
            "@daily",
            "0 0 1 * MON",
            "* * * * *",
        ],
        "day_rule": [None, "", "and", "or"],
    },
    daily: {
        **_OF_DAYS,
        "at": ["00:00", "09:00", "09:00:30", "", "17:00,09:00", "00:00,09:00:30", "9:00,09:00"],
    },
    every: {
        **_MODIFIERS,
        **_LENGTHS,
        "days": [None, [], "mon", 0, 1, 3],
        "anchor": _CYCLE["anchor"],
        "at": [None, "00:00", "09:00", "", "00:00,09:00"],
    },
    interval: {
        **_INTERVALS,
        **_LENGTHS,
        "days": [None, [], "mon", 0, 1, 3],
        "weeks": [None, [], "first", 0, 2],
        "start": [None, "1970-01-01T00:00Z", "2027-01-04T09:00+01:00", ""],
    },
    weekly: {
        **_OF_DAYS,
        **_CYCLE,
        "on": ["mon", "mon-sun", [], "mon,fri"],
        "at": ["00:00", "09:00", "00:00,17:00"],
    },
    monthly: {
        **_OF_DAYS,
        **_CYCLE,
        "on": [1, "1-31", "", "last", "15w,last-2"],
        "at": ["00:00", "09:00", "00:00,17:00"],
    },
    nth_weekday: {
        **_OF_DAYS,
        "nth": [1, "first,second,third,fourth,fifth,last", "", "last"],
        "on": ["mon", "mon-sun"],
        "at": ["00:00"],
    },
    business_day: {
        **_OF_DAYS,
        **_CYCLE,
        "on": [1, "last", "1,last-2", "", [*range(1, 24)]],
        "at": ["00:00", "09:00", "00:00,17:00"],
    },
    yearly: {
        **_OF_DAYS,
        **_CYCLE,
        "on": ["01-01", "02-29", "", ["06-30", "10-25"]],
        "at": ["00:00", "09:00", "00:00,17:00"],
    },
    once: {
        "at": ["1970-01-01 00:00", "2027-06-01T09:00:30", "2027-06-01T09:00Z", ""],
        "tz": _MODIFIERS["tz"],
        "dst": _MODIFIERS["dst"],
    },
    on_event: {
        "source": ["a", "a_b", "a b", "a,b", "a.b", "a/b", "", "a=b", '"a"'],
        "type": ["c", "b_c", "b c", "", "b.c"],
        "match": [None, {}, {"kind": [""]}, {"kind": ["a b", 1]}],
        "tenant": [None, "", "detail", "detail.tenant_id"],
        "no_tenant": ["system", "refuse", ""],
    },
    manual: {},
}
_ALWAYS_GIVEN = {"expression", "at", "on", "nth", "source", "type"}
NOON = datetime(2026, 1, 15, 12, tzinfo=UTC)


def drawn(kind: Callable[..., Cadence], random: Random) -> tuple[dict[str, Any], Cadence | None]:
    """Return arguments, most of them absent, and their cadence; None if they are rejected."""
    given = {}
    for name, values in KINDS[kind].items():
        is_length = kind in (every, interval) and name in _LENGTHS
        if (name in _ALWAYS_GIVEN and kind is not every) or random.random() < (0.5 if is_length else 0.2):
            given[name] = random.choice(values)
    try:
        if "calendar" in given:
            given["calendar"] = calendar(random)
        return given, kind(**given)
    except InvalidCadence:
        return given, None


def calendar(random: Random) -> Calendar:
    given = {name: random.choice(values) for name, values in CALENDAR.items() if random.random() < 0.4}
    return Calendar(**{name: value for name, value in given.items() if value is not ABSENT})


def of_the_name(cadence: Cadence) -> str:
    """Return the text of a cadence without what its name leaves out, by definition."""
    named = cadence.modifiers.calendar
    if named is not None and named.name:
        named = Calendar(["sun"], name=named.name)
    text = replace(cadence, modifiers=replace(cadence.modifiers, calendar=named, default_tz=None)).text
    return re.sub(r" start=\S+", "", text, count=1) if text.startswith("interval") else text


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_the_text_says_all_that_the_object_says(kind):
    random, names, accepted = Random(kind.__name__), dict[str, str](), 0  # noqa: S311 - test data
    for _ in range(600):
        given, cadence = drawn(kind, random)
        if cadence is None:
            continue
        accepted += 1
        if random.random() < 0.2:
            cadence = cadence.with_default_tz("Asia/Tokyo")
        again = parse(cadence.text)
        assert again == cadence, given
        assert hash(again) == hash(cadence)
        assert (again.text, again.name, again.describe()) == (cadence.text, cadence.name, cadence.describe())
        assert pickle.loads(pickle.dumps(cadence)) == cadence == copy.deepcopy(cadence), given  # noqa: S301 - our own
        assert names.setdefault(cadence.name, of_the_name(cadence)) == of_the_name(cadence)
        named = cadence.modifiers.calendar
        assert named is None or (named.unresolved or "DE-BE") == "DE-BE"
        if named is None or not named.unresolved:
            assert again.next_after(NOON) == cadence.next_after(NOON)
    assert accepted > 50 or kind is manual


def test_a_calendars_text_says_all_that_the_calendar_says():
    random, texts, accepted = Random(5), dict[str, Calendar](), 0  # noqa: S311 - test data
    for _ in range(3_000):
        try:
            made = calendar(random)
        except InvalidCadence:
            continue
        accepted += 1
        text = calendar_text(made)
        assert parse_calendar(text) == made, text
        assert texts.setdefault(text, made) == made, text
    assert accepted > 300


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (parse, "daily 09:00 days=mon days=tue"),
        (parse, "daily 09:00 calendar=exclude:mon;exclude:tue"),
        (parse, "daily 09:00 calendar=exclude:mon;name:a;name:b"),
        (parse, 'on_event a b match={"k":["a"],"k":["b"]}'),
        (parse, "every 10m tz=UTC tz=UTC"),
        (from_rrule, "DTSTART:20270104T090000Z\nRRULE:FREQ=DAILY;COUNT=3;COUNT=5"),
        (from_rrule, "FREQ=DAILY;BYHOUR=9;BYHOUR=10;BYMINUTE=0"),
        (from_systemd, "Mon Tue *-*-* 09:00"),
        (from_systemd, "*-*-* *-*-* 09:00"),
        (from_systemd, "*-*-* 09:00 10:00"),
        (from_systemd, "*-*-* 09:00 UTC Europe/Paris"),
    ],
)
def test_what_is_given_twice_is_rejected(read, text):
    with pytest.raises(InvalidCadence):
        read(text)
