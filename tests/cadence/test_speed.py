"""Questions about counts, sparse days and calendars take few steps, and are answered as step by step."""

from __future__ import annotations

import sys
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from random import Random

import pytest

from duetime.cadence import Calendar, InvalidCadence, interval, parse, yearly
from tests.cases import for_each

NOW = datetime(2026, 11, 30, 12, 7, 3, tzinfo=UTC)
DAY = timedelta(days=1)
# Calls of functions of one question; a search that evaluates each of 10,000 occurrences makes 100,000.
MOST_CALLS = 80_000
SLOW = [
    "interval 3d30m weeks=first window=09:00-12:00,12:00-13:00,13:00-17:00 count=10000",
    "interval 3d30m weeks=first window=09:00-12:00,12:00-13:00 count=10000 start=2000-01-01T00:00:00Z",
    "interval 14d1h30m window=09:00-12:00,12:00-17:00 count=9999 tz=Asia/Tokyo",
    "interval 1s window=09:00-17:00 count=10000 start=2026-11-30T00:00:00Z",
    "interval 7d30s start=2000-01-01T00:00:00Z days=mon count=10000",
    "interval 7m start=2000-01-01T00:00:00Z count=10000",
    "weekly mon 09:00 every=50 anchor=2026-01-05 weeks=second,last start=2020-06-01 count=10000",
    "weekly sun 02:30 every=519 anchor=2020-02-29 calendar=exclude:sat,sun;instead:next_business_day",
    "yearly 12-25 00:00 every=3 anchor=2020-02-29 calendar=include:01-01,06-30,2030-05-05 offset=-31b",
    "every 400d at=09:00 anchor=2026-01-05 calendar=exclude:2026-01-01;instead:business_day_of_month",
    "business_day last 09:00 start=2000-01-01 count=10000 calendar=exclude:12-25,01-01",
]


def calls_of(question):
    """The number of functions that a question calls."""
    made = 0

    def count(_frame, event, _argument):
        nonlocal made
        made += event == "call"

    sys.setprofile(count)
    try:
        question()
    finally:
        sys.setprofile(None)
    return made


@pytest.mark.parametrize("text", SLOW)
def test_a_question_takes_few_steps(text):
    assert calls_of(lambda: parse(text)) < MOST_CALLS
    assert calls_of(lambda: parse(text).next_after(NOW)) < MOST_CALLS
    if not text.startswith("interval") or "start=" in text:
        assert calls_of(lambda: parse(text).last_before(NOW)) < MOST_CALLS


@pytest.mark.parametrize(
    "text",
    [
        "every 364d at=09:00 anchor=2026-08-07 days=tue",
        "every 700d anchor=2026-09-11 days=sun calendar=include:06-30;instead:business_day_of_month",
        "every 273d at=09:00 anchor=2026-04-20 days=tue calendar=include:12-25,sat;instead:next_business_day",
        "every 14d at=09:00 anchor=2026-08-08 calendar=exclude:sat,sun",
        "weekly mon,tue 09:00 every=520 anchor=2026-08-07 months=feb weeks=fifth",
        "monthly 31 09:00 every=1200 anchor=2027-02-01",
        "interval 14d1h30m days=sun window=12:00-12:00",
        "interval 365d window=12:00-12:00 start=2027-01-01T00:00:00Z",
    ],
)
def test_a_cadence_that_may_never_run_is_rejected_in_few_steps(text):
    def rejected():
        with pytest.raises(InvalidCadence):
            parse(text).check_can_run()

    assert calls_of(rejected) < MOST_CALLS


@for_each("seed", range(40))
def test_an_interval_ends_with_the_last_of_its_count(seed):
    random = Random(seed)  # noqa: S311 - test data
    filters = {
        "days": random.choice([None, "mon", "sat,sun", "mon-fri"]),
        "weeks": random.choice([None, "first", "second,last"]),
        "window": random.choice(
            [None, "09:00-12:00,12:00-17:00", "22:00-02:00", "12:00-12:30", "00:30-03:00"]
        ),
        "calendar": random.choice(
            [None, Calendar(["2026-12-25", "06-30"]), Calendar(include=["mon", "sat"])]
        ),
        "tz": random.choice([None, "Europe/Paris", "Australia/Lord_Howe", "Africa/Casablanca"]),
    }
    options = {name: value for name, value in filters.items() if value}
    step = timedelta(minutes=random.choice([1, 7, 60, 1_439, 4_350]), seconds=random.choice([0, 0, 1]))
    count = random.choice([1, 16, 17, 100, 1_000])
    endless = interval(seconds=step.total_seconds(), start="2026-03-01T00:00Z", **options)
    counted = parse(f"{endless.text} count={count}")
    begin = datetime(2026, 3, 1, tzinfo=UTC)
    expected = [*islice(endless.between(begin, datetime(9999, 1, 1, tzinfo=UTC)), count)]
    assert counted.next_after(expected[-1] - timedelta(seconds=1)) == expected[-1]
    assert counted.next_after(expected[-1]) is None
    assert counted.ends_at == expected[-1]
    assert counted.last_before(expected[-1] + 400 * DAY) == expected[-1]
    for at in random.sample(expected, min(10, count)):
        assert counted.next_after(at - timedelta(seconds=1)) == at
        assert counted.last_before(at + timedelta(seconds=1)) == at


def test_a_count_of_an_interval_without_a_start_begins_with_its_job():
    cadence = interval(minutes=7, count=5)
    assert cadence.next_after(NOW) == NOW + timedelta(minutes=7)
    assert not cadence.is_used_up(NOW)
    first = datetime(1, 1, 1, tzinfo=UTC)
    for tz in ("America/New_York", "Asia/Tokyo"):
        assert interval(hours=1, count=5, window="09:00-17:00", tz=tz).next_after(first).year == 1
    assert len([*cadence.starting(NOW).between(NOW, NOW + DAY)]) == 5


@pytest.mark.parametrize("count", [-31, -10, -1, 1, 10, 31])
def test_an_offset_of_business_days_reaches_over_years_without_many(count):
    calendar = Calendar(include=["01-01", "06-30", "2030-05-07"])
    cadence = yearly("06-30,10-25", "00:00", calendar=calendar, offset=f"{count}b")
    days = [date(1950, 1, 1) + n * DAY for n in range(50_000)]
    listed = {(1, 1), (6, 30)}
    business = [
        day
        for day in days
        if day.weekday() < 5 and ((day.month, day.day) in listed or day == date(2030, 5, 7))
    ]
    shifted = set()
    for day in (date(year, *on) for year in range(1960, 2075) for on in ((6, 30), (10, 25))):
        before = sum(other < day for other in business)
        later = before + (day in business) - 1 + count if count > 0 else before + count
        shifted.add(business[later] if 0 <= later < len(business) else day)
    begin, end = datetime(2000, 1, 1, tzinfo=UTC), datetime(2040, 1, 1, tzinfo=UTC)
    expected = sorted(day for day in shifted if date(2000, 1, 1) < day < date(2040, 1, 1))
    assert [at.date() for at in cadence.between(begin, end)] == [day for day in expected if day in business]
