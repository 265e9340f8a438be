"""Filters, seconds and weeks of cadences, against an oracle that checks every second."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from duetime.cadence import Calendar, InvalidCadence, every, weekly
from tests.cadence.oracle import SECOND, occurrences
from tests.cadence.strategies import zoned_starts

WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
clocks = st.integers(0, 24 * 60 - 1).map(lambda minute: time(minute // 60, minute % 60))


@given(
    step=st.sampled_from([1, 5, 7, 10, 25, 60, 90, 300, 1440]),
    window=st.none() | st.tuples(clocks, clocks),
    days=st.none() | st.lists(st.sampled_from(WEEKDAYS), min_size=1, max_size=6),
    silent=st.lists(st.sampled_from([*WEEKDAYS[:3], "03-29", "10-25"]), max_size=3),
    where=zoned_starts(),
)
def test_composed_filters_are_as_in_the_oracle(step, window, days, silent, where):
    tz, start = where
    end = start + timedelta(days=2)

    def matches(local):
        minute = local.hour * 60 + local.minute
        return (
            minute % step == 0
            and (window is None or inside(local.time(), *window))
            and (days is None or name_of(local) in days)
            and not {name_of(local), f"{local:%m-%d}"} & set(silent)
        )

    try:
        calendar = Calendar(exclude=silent) if silent else None
        cadence = every(minutes=step, window=window, days=days, calendar=calendar, tz=tz)
    except InvalidCadence:
        return

    assert list(cadence.between(start, end)) == occurrences(matches, tz, start, end, interval=step < 1440)


def inside(clock, opens, shuts):
    return opens <= clock <= shuts if opens <= shuts else clock >= opens or clock <= shuts


def name_of(local):
    return WEEKDAYS[local.isoweekday() % 7]


@settings(max_examples=20)
@given(step=st.integers(1, 4_000), where=zoned_starts())
def test_steps_of_seconds_restart_at_each_midnight(step, where):
    tz, start = where
    end = start + timedelta(hours=3)

    def matches(local):
        return (local.hour * 3600 + local.minute * 60 + local.second) % step == 0

    expected = occurrences(matches, tz, start, end, interval=True, step=SECOND)
    assert list(every(seconds=step, tz=tz).between(start, end)) == expected


@given(
    weeks=st.integers(1, 9),
    anchor=st.dates(date(1990, 1, 1), date(2050, 1, 1)),
    days=st.sets(st.sampled_from(WEEKDAYS), min_size=1),
)
def test_weeks_are_counted_from_the_monday_of_the_anchor(weeks, anchor, days):
    cadence = weekly(sorted(days), "12:00", every=weeks, anchor=anchor)
    monday = anchor - timedelta(days=anchor.weekday())
    start = date(2026, 1, 1)
    expected = [
        day
        for n in range(200)
        if name_of(day := start + timedelta(days=n)) in days and (day - monday).days // 7 % weeks == 0
    ]
    first = datetime(2026, 1, 1, tzinfo=UTC)

    assert [at.date() for at in cadence.between(first, first + timedelta(days=200))] == expected
