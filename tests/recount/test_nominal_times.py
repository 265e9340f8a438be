"""The recount's own nominal times are those of the cadences, which share no search with it."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from duetime.cadence import (
    Cadence,
    Calendar,
    Cron,
    Interval,
    InvalidCadence,
    business_day,
    cron,
    daily,
    every,
    interval,
    manual,
    monthly,
    nth_weekday,
    on_event,
    once,
    parse,
    walk,
    wall_cadence,
    weekly,
    yearly,
)
from duetime.cadence._spaced import Every
from duetime.recount.nominal_times import NominalTimes
from tests.cadence.strategies import expressions, timely, zoned_starts

ANCHOR = datetime(2025, 12, 31, 23, 59, 7, tzinfo=UTC)
JOB = "acme/books-close"
DAY = timedelta(days=1)

clock = st.integers(0, 24 * 60 - 1).map(lambda minute: f"{minute // 60:02}:{minute % 60:02}")
clocks = clock | st.lists(clock, min_size=2, max_size=3, unique=True).map(",".join)
weekdays = st.sampled_from(["mon", "mon-fri", "sat,sun", "tue,thu"])
anchors = st.dates(date(2009, 1, 1), date(2030, 1, 1))
walls = st.one_of(
    st.builds(
        lambda text, **options: (cron, (text,), options),
        expressions | timely,
        day_rule=st.sampled_from(["and", "or"]),
    ),
    st.builds(lambda text: (cron, (text,), {}), timely),
    st.builds(lambda at: (daily, (at,), {}), clocks),
    st.builds(lambda step: (every, (), {"minutes": step}), st.integers(1, 1_440)),
    st.builds(
        lambda n, at, day: (every, (), {"days": n, "at": at, "anchor": day}),
        st.integers(2, 40),
        clocks,
        anchors,
    ),
    st.builds(lambda on, at: (weekly, (on, at), {}), weekdays, clocks),
    st.builds(
        lambda on, at, n, day: (weekly, (on, at), {"every": n, "anchor": day}),
        weekdays,
        clocks,
        st.integers(2, 9),
        anchors,
    ),
    st.builds(
        lambda on, at: (monthly, (on, at), {}),
        st.sampled_from(["1,last", "15w,lastw", "31,last-2", "last-3w,29"]),
        clocks,
    ),
    st.builds(
        lambda at, n, day: (monthly, ("1,28", at), {"every": n, "anchor": day}),
        clocks,
        st.integers(2, 9),
        anchors,
    ),
    st.builds(
        lambda nth, on, at: (nth_weekday, (nth, on, at), {}),
        st.sampled_from(["first", "last", "fifth", "second,last"]),
        weekdays,
        clocks,
    ),
    st.builds(
        lambda on, at: (yearly, (on, at), {}),
        st.sampled_from(["01-01", "02-29,03-28", "03-29,10-25,11-01"]),
        clocks,
    ),
    st.builds(
        lambda on, at: (business_day, (on, at), {}),
        st.sampled_from(["1", "3,last", "last-2,10", "5,6,7"]),
        clocks,
    ),
    st.builds(
        lambda at, n, day: (business_day, ("3,last", at), {"every": n, "anchor": day}),
        clocks,
        st.integers(2, 9),
        anchors,
    ),
)
calendars = st.builds(
    Calendar,
    st.lists(
        st.sampled_from(["sun", "03-29", "10-25", "2026-03-30", "12-25", "12-31", "01-01", "fri"]),
        min_size=1,
        max_size=4,
    ),
    instead=st.sampled_from(["skip", "next_business_day", "previous_business_day", "business_day_of_month"]),
    weekend=st.sampled_from([["sat", "sun"], ["fri", "sat"], ["mon"], []]),
    working=st.sampled_from([[], ["2026-03-28"], ["2026-03-29", "2026-10-24"]]),
    weekends=st.sampled_from(["move", "keep"]),
)
narrowings = st.fixed_dictionaries(
    {},
    optional={
        "months": st.sampled_from(["mar,oct", "jan-jun", "feb"]),
        "weeks": st.sampled_from(["first,last", "second-fourth", "fifth"]),
        "days": st.sampled_from(["mon-fri", "sat,sun", "wed"]),
        "window": st.sampled_from([("09:00", "17:00"), ("22:00", "02:30"), ["01:00-02:30", "03:00-03:00"]]),
        "calendar": calendars,
        "offset": st.sampled_from(["-2d", "1d", "3b", "-1b", "-4b"]),
        "dst": st.sampled_from(["vixie", "eventbridge", "cronos"]),
        "spread": st.sampled_from(["10m", "45s", "1h"]),
    },
)


def assert_the_same(cadence: Cadence, start: datetime, end: datetime) -> None:
    planned = cadence.starting(ANCHOR) if isinstance(cadence, Interval) and cadence.start is None else cadence
    recounted = NominalTimes(parse(cadence.text), ANCHOR, JOB)
    assert list(recounted.between(start, end)) == list(planned.delayed_for(JOB).between(start, end)), (
        cadence.text
    )


@settings(deadline=None)
@given(made=walls, narrowing=narrowings, where=zoned_starts(), plain=st.booleans())
def test_of_a_wall_clock_are_the_cadences_own(made, narrowing, where, plain):
    (kind, arguments, options), (tz, start) = made, where
    try:
        cadence = kind(*arguments, tz=tz, **options, **({} if plain else narrowing))
    except (InvalidCadence, TypeError):
        assume(False)
    assert_the_same(cadence, start, start + (DAY if isinstance(cadence, Every | Cron) else 200 * DAY))


bounds = st.fixed_dictionaries(
    {"start": st.sampled_from(["2026-03-20", "2026-03-29T01:30", "2026-03-29T02:30", "2026-03-28T09:00Z"])},
    optional={
        "end": st.sampled_from(["2026-04-02", "2026-10-25T02:30"]),
        "count": st.integers(1, 40),
        "except_at": st.sampled_from(["2026-03-29T03:00", "2026-10-25T02:30", "2026-03-30T07:00Z"]),
        "spread": st.sampled_from(["10m", "25s"]),
    },
)


@settings(deadline=None)
@given(made=walls, bounded=bounds, tz=st.sampled_from(["Europe/Paris", "UTC", "Pacific/Apia"]))
def test_within_bounds_are_the_cadences_own(made, bounded, tz):
    kind, arguments, options = made
    try:
        cadence = kind(*arguments, tz=tz, **options, **bounded)
    except InvalidCadence:
        assume(False)
    start = datetime(2026, 3, 28, tzinfo=UTC)
    assert_the_same(cadence, start, start + 4 * DAY)


@settings(deadline=None)
@given(
    step=st.integers(1, 200_000),
    narrowing=narrowings,
    count=st.none() | st.integers(1, 500),
    start=st.none() | st.just("2026-03-27T09:00:01Z"),
    where=zoned_starts(),
)
def test_of_an_interval_are_the_cadences_own(step, narrowing, count, start, where):
    tz, at = where
    usual = {
        name: value for name, value in narrowing.items() if name not in {"dst", "offset", "days", "weeks"}
    }
    try:
        cadence = interval(seconds=step, tz=tz, count=count, start=start, **usual)
    except InvalidCadence:
        assume(False)
    for begin in (at, ANCHOR - DAY, datetime(2026, 3, 27, tzinfo=UTC)):
        assert_the_same(cadence, begin, begin + DAY)


@pytest.mark.parametrize("at", ["2026-03-29T02:30", "2026-10-25T02:30", "2026-06-01T09:00:05"])
@pytest.mark.parametrize("dst", ["cronos", "vixie", "eventbridge"])
def test_of_a_single_time_are_the_cadences_own(at, dst):
    try:
        cadence = once(at, tz="Europe/Paris", dst=dst)
    except InvalidCadence:
        return
    assert_the_same(cadence, datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 12, 1, tzinfo=UTC))


def test_of_a_trigger_do_not_exist():
    for cadence in (manual(), on_event("orders", "OrderPlaced")):
        assert list(NominalTimes(cadence, ANCHOR, JOB).between(ANCHOR, ANCHOR + 9 * DAY)) == []


FACTS = [
    ("daily 02:30 tz=Europe/Paris", "2026-03-28 01:30, 2026-03-29 01:00, 2026-03-30 00:30, 2026-03-31 00:30"),
    ("daily 02:30 tz=Europe/Paris dst=eventbridge", "2026-03-28 01:30, 2026-03-30 00:30, 2026-03-31 00:30"),
    ("cron 0 0 29,L * *", "2026-03-29 00:00, 2026-03-31 00:00"),
    ("nth_weekday last fri,sat 06:00", "2026-03-28 06:00"),
    ("business_day last,last-1 09:00", "2026-03-30 09:00, 2026-03-31 09:00"),
    ("weekly sat 06:00 every=2 anchor=2026-03-25", "2026-03-28 06:00"),
]
"""Times from 2026-03-28 to 2026-04-01 in UTC, by the calendar and the clocks of Paris."""


@pytest.mark.parametrize(("text", "expected"), FACTS)
def test_are_right(text, expected):
    times = NominalTimes(parse(text), ANCHOR, JOB).between(
        datetime(2026, 3, 28, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC)
    )
    assert ", ".join(f"{at:%Y-%m-%d %H:%M}" for at in times) == expected


@pytest.mark.parametrize("text", [text for text, _ in FACTS])
def test_come_from_no_search_of_the_planners(text, monkeypatch):
    cadence = parse(text)

    def refuse(*_arguments):
        raise AssertionError("the recount searches with the planner's own code")

    for name in ("next_after", "last_before", "matches", "between"):
        monkeypatch.setattr(Cadence, name, refuse)
    monkeypatch.setattr(walk, "next_after", refuse)
    monkeypatch.setattr(wall_cadence, "next_after", refuse)
    monkeypatch.setattr(walk.WallSchedule, "first_from", refuse)
    assert list(
        NominalTimes(cadence, ANCHOR, JOB).between(
            datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC)
        )
    )
