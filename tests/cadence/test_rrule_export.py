"""An exported rule has the cadence's times and no others, and is read back as such."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import islice, takewhile
from random import Random
from typing import Any

import pytest
from dateutil.rrule import rrulestr

from duetime.cadence import (
    Cadence,
    Calendar,
    Interval,
    InvalidCadence,
    business_day,
    cron,
    daily,
    every,
    exports,
    from_rrule,
    interval,
    monthly,
    nth_weekday,
    parse,
    to_rrule,
    weekly,
    yearly,
)
from duetime.cadence.zones import seconds_of

START = datetime(2026, 1, 1, tzinfo=UTC)
END_YEAR = 2037
MOST = 50
ATS = ["09:00", "00:00", "23:59:30"]
CYCLES = [{}, {}, *({"every": n, "anchor": day} for n in (2, 3, 5) for day in ("2026-01-05", "2024-02-29"))]
OPTIONS: dict[str, list[Any]] = {
    "months": ["oct", "jan-mar", "feb", "1,6,12"],
    "weeks": ["first", "last", "second,third", "first,fifth", "fifth"],
    "days": ["mon", "mon-fri", "sat,sun"],
    "calendar": [
        Calendar(exclude=["2026-03-16", "2026-10-25"]),
        Calendar(exclude=["sun"]),
        Calendar(exclude=["sat", "2026-02-02"], working=["2026-03-07"]),
    ],
    "start": ["2026-02-03", "2026-02-03T12:00"],
    "end": ["2026-12-03", "2029-02-03"],
    "except_at": [["2026-03-02T09:00", "2026-06-01T09:00"]],
}
KINDS: dict[Any, list[list[Any]]] = {
    yearly: [["06-30,10-25", "02-29", "01-01", "02-28,02-29", "01-31,03-31,12-31", "03-16,10-16"], ATS],
    monthly: [["1", "31", "1,last", "last-2,15", "30,31", "1-7", 29], ATS],
    nth_weekday: [["first", "last", "first,third", "fifth"], ["mon", "mon,fri", "sat,sun"], ATS],
    weekly: [["mon", "mon,fri", "sun", "mon-sun"], ATS],
    business_day: [["1", "last", "3,last-2"], ATS],
    daily: [ATS],
    cron: [
        [
            f"{time} {day}"
            for time in ("0 9", "*/15 9-17", "5,50 */6", "0 *")
            for day in (
                "* * *",
                "1 * *",
                "L */3 *",
                "13 * FRI",
                "1-7 * MON",
                "* 2 MON-FRI",
                "* * MON#2",
                "* * FRIL",
            )
        ]
    ],
    every: [],
    interval: [],
}


def drawn(kind: Any, random: Random) -> Cadence:
    options = {name: random.choice(values) for name, values in OPTIONS.items() if random.random() < 0.25}
    if "start" in options and random.random() < 0.5:
        options["count"] = random.choice([1, 5, 30])
    if kind in (yearly, monthly, weekly):
        options |= random.choice(CYCLES)
    if kind is cron:
        options["day_rule"] = "and"
    if kind is every and random.random() < 0.5:
        options |= {"days": random.choice([2, 3, 10]), "anchor": "2026-01-05", "at": random.choice(ATS)}
    elif kind in (every, interval):
        options["minutes"] = random.choice([7, 10, 30, 60, 90, 120])
    if kind is interval:
        options = {name: options[name] for name in options if name in ("minutes", "end", "except_at")}
    return kind(*map(random.choice, KINDS[kind]), **options)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_an_export_has_the_times_of_the_cadence_and_is_read_back(kind):
    random, results = Random(kind.__name__), Counter[str]()  # noqa: S311 - test data
    for _ in range(250):
        try:
            cadence = drawn(kind, random)
            text = to_rrule(cadence, start=START)
        except InvalidCadence as refused:
            results[refused.problem] += 1
            continue
        results["exported"] += 1
        if isinstance(cadence, Interval):
            cadence = cadence.starting(START)
        expected = next_times(cadence)
        rule = (at.replace(tzinfo=UTC) for at in rrulestr(text, forceset=True))
        assert [*islice(takewhile(lambda at: at.year < END_YEAR, rule), MOST)] == expected, (
            cadence.text + text
        )
        assert next_times(from_rrule(text)) == expected, cadence.text + text
    assert results["exported"] > 40
    assert not [problem for problem in results if "these days together" in problem], results


def next_times(cadence: Cadence) -> list[datetime]:
    times = cadence.between(START - timedelta(seconds=1), datetime(END_YEAR, 12, 31, tzinfo=UTC))
    return [*islice(takewhile(lambda at: at.year < END_YEAR, times), MOST)]


@pytest.mark.parametrize("wrong", ["FREQ=DAILY;BYHOUR=9;BYMINUTE=0;BYMONTH=6,7", "FREQ=HOURLY;BYMINUTE=0"])
def test_a_wrong_rule_is_not_returned(monkeypatch, wrong):
    cadence = daily("09:00", tz="Europe/Paris", months="jun")
    assert to_rrule(cadence, start=START).endswith("BYHOUR=9")
    monkeypatch.setattr(exports, "_rule", lambda *_: wrong)
    with pytest.raises(InvalidCadence, match="an RRULE cannot express these days together"):
        to_rrule(cadence, start=START)


@pytest.mark.parametrize("tz", ["Europe/Paris", "Australia/Lord_Howe", "Pacific/Apia", "UTC"])
@pytest.mark.parametrize("dst", ["cronos", "vixie", "eventbridge"])
def test_changes_of_the_clocks_hinder_no_export(tz, dst):
    before = datetime(2026, 3, 27, tzinfo=UTC)
    for cadence in (
        cron("*/10 * * * *", tz=tz, dst=dst),
        daily("02:30", tz=tz, dst=dst),
        every(hours=1, tz=tz, dst=dst),
    ):
        assert to_rrule(cadence, start=before).startswith("DTSTART")


MANY = [f"{START + timedelta(days=7 * n):%Y-%m-%d}" for n in range(150)]


@pytest.mark.parametrize(
    "cadence",
    [
        daily("09:00", tz="Europe/Paris", calendar=Calendar(MANY)),
        weekly(
            "thu", "02:30", tz="America/New_York", calendar=Calendar(MANY), except_at=["2029-01-11T02:30"]
        ),
        daily("09:00,17:00", calendar=Calendar(MANY), end="2028-05-01"),
        cron("*/10 * * * *", calendar=Calendar(MANY[:3]), tz="Asia/Tokyo"),
    ],
    ids=lambda cadence: cadence.text[:20],
)
def test_an_export_with_many_exceptions_is_read_back(cadence):
    text = to_rrule(cadence, start=START)
    assert text.partition("EXDATE")[2].count(",") > 100
    end = datetime(2031, 1, 1, tzinfo=UTC)
    mine, theirs = (islice(one.between(START, end), 2_000) for one in (cadence, from_rrule(text)))
    assert [*mine] == [*theirs]


def test_an_export_is_compared_with_its_exceptions(monkeypatch):
    cadence = daily("09:00", calendar=Calendar(["2026-01-05"]))
    monkeypatch.setattr(exports, "_excluded", lambda *_: {seconds_of(START + timedelta(hours=9))})
    with pytest.raises(InvalidCadence, match="an RRULE cannot express these days together"):
        to_rrule(cadence, start=START)


@pytest.mark.parametrize("text", ["daily 09:00", "yearly 12-25 09:00", "monthly last 09:00", "interval 7m"])
@pytest.mark.parametrize("tz", ["UTC", "Asia/Tokyo", "America/New_York"])
def test_an_export_from_the_first_day_of_the_calendar_is_read_back(text, tz):
    rule = to_rrule(parse(f"{text} tz={tz}"), start=datetime(1, 1, 1, tzinfo=UTC))
    assert from_rrule(rule).next_after(datetime(2, 1, 1, tzinfo=UTC)).year == 2
