"""What other schedulers' languages have: cycles of months, days at a time, conventions, the way back."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from duetime.cadence import (
    Calendar,
    InvalidCadence,
    NaiveInstant,
    cron,
    daily,
    every,
    interval,
    manual,
    monthly,
    once,
    parse,
)
from tests.cadence.strategies import expressions, zoned_starts

START = datetime(2027, 1, 1, tzinfo=UTC)
HOLIDAYS = [date(2027, 1, 1), date(2027, 5, 31), date(2027, 12, 31), date(2027, 12, 30)]


def is_business_day(day):
    return day.weekday() < 5 and day not in HOLIDAYS


def following(day):
    while not is_business_day(day):
        day += timedelta(days=1)
    return day


def preceding(day):
    while not is_business_day(day):
        day -= timedelta(days=1)
    return day


def in_month(day):
    after = following(day)
    return after if after.month == day.month else preceding(day)


@pytest.mark.parametrize(
    ("instead", "rule"),
    [
        ("next_business_day", following),
        ("previous_business_day", preceding),
        ("business_day_of_month", in_month),
    ],
)
@pytest.mark.parametrize("days", ["1", "31", "15", "last", "1,15,30"])
def test_runs_move_by_the_business_day_conventions(instead, rule, days):
    calendar = Calendar(exclude=["sat", "sun", *HOLIDAYS], instead=instead)
    plain, moved = monthly(days, "09:00"), monthly(days, "09:00", calendar=calendar)
    two_years = START + timedelta(days=730)
    regular = plain.between(START - timedelta(days=31), two_years + timedelta(days=31))
    expected = {
        at.replace(year=day.year, month=day.month, day=day.day) for at in regular for day in [rule(at.date())]
    }
    assert [*moved.between(START, two_years)] == sorted(at for at in expected if START < at <= two_years)


def test_a_move_is_described():
    calendar = Calendar(exclude=["sun"], instead="previous_business_day")
    assert "(moved to the previous business day)" in daily("09:00", calendar=calendar).describe()
    assert parse(daily("09:00", calendar=calendar).text).modifiers.calendar == calendar


def test_an_unknown_convention_is_rejected_with_the_known_ones():
    with pytest.raises(InvalidCadence, match="use skip, next_business_day, previous_business_day, bus"):
        Calendar(exclude=["sun"], instead="nearest")


@pytest.mark.parametrize(("months", "expected"), [(3, [2, 5, 8, 11]), (5, [2, 7, 12]), (12, [2])])
def test_every_so_many_months_are_counted_from_the_anchor(months, expected):
    cadence = monthly("10", "09:00", every=months, anchor="2026-02-28")
    year = [*cadence.between(datetime(2026, 1, 1, tzinfo=UTC), START)]
    assert [at.month for at in year] == expected
    before = [*cadence.between(datetime(2021, 2, 1, tzinfo=UTC), datetime(2022, 2, 1, tzinfo=UTC))]
    assert len(before) in (12 // months, 12 // months + 1)
    assert all((at.year * 12 + at.month - 2026 * 12 - 2) % months == 0 for at in before)


def test_february_29_every_second_year_is_every_fourth():
    cadence = monthly(29, "00:00", every=24, anchor="2028-02-01", months="feb")
    assert [at.year for at in cadence.between(START, datetime(2050, 1, 1, tzinfo=UTC))] == [
        *range(2028, 2050, 4)
    ]


def test_every_so_many_months_needs_an_anchor():
    with pytest.raises(InvalidCadence, match="the 3 months have no anchor"):
        monthly(1, "09:00", every=3)


def test_every_so_many_days_at_a_time_of_day():
    cadence = every(days=3, at="09:30", anchor="2027-01-02", tz="Europe/Paris")
    local = [
        f"{at.astimezone(ZoneInfo('Europe/Paris')):%m-%d %H:%M}"
        for at in cadence.between(START, START + timedelta(days=9))
    ]
    assert local == ["01-02 09:30", "01-05 09:30", "01-08 09:30"]
    assert cadence.describe() == "every 3 days at 09:30, counted from 2027-01-02, Europe/Paris time"
    assert cadence.text == "every 3d at=09:30 anchor=2027-01-02 tz=Europe/Paris"
    assert every(days=1, at="09:30").next_after(START) == START.replace(hour=9, minute=30)


@pytest.mark.parametrize("options", [{"minutes": 10}, {"hours": 6}])
def test_a_step_within_a_day_has_no_time_of_day(options):
    with pytest.raises(InvalidCadence, match="has no time of day; leave at out"):
        every(**options, at="09:00")


@given(expressions, zoned_starts(), st.sampled_from(["cronos", "vixie", "eventbridge"]), st.integers(0, 3))
def test_the_way_back_has_the_same_occurrences(expression, zoned, dst, microseconds):
    tz, start = zoned
    try:
        cadence = cron(expression, tz=tz, dst=dst, day_rule="or")
    except InvalidCadence:
        assume(False)
    end = start + timedelta(days=40, microseconds=microseconds)
    forward = []
    for at in cadence.between(start, end):
        forward.append(at)
        if len(forward) == 60:
            end = at + timedelta(seconds=1)
            break
    at, back = end, []
    while (at := cadence.last_before(at)) is not None and at > start:
        back.append(at)
    assert back[::-1] == [found for found in forward if found < end]
    assert all(map(cadence.matches, forward))
    assert not any(cadence.matches(found + timedelta(microseconds=1)) for found in forward)


def test_there_is_nothing_before_the_first_occurrence():
    single = once("2027-06-01 09:00")
    at = datetime(2027, 6, 1, 9, tzinfo=UTC)
    assert single.last_before(at) is None
    assert single.last_before(at + timedelta(microseconds=1)) == at
    assert (single.matches(at), single.matches(at + timedelta(seconds=1))) == (True, False)
    assert manual().last_before(at) is None
    assert daily("09:00").last_before(datetime.min.replace(tzinfo=UTC)) is None


def test_an_interval_has_a_past_from_its_start_on():
    started = interval(minutes=7).starting(START)
    assert started.last_before(START + timedelta(minutes=15)) == START + timedelta(minutes=14)
    assert started.last_before(START + timedelta(minutes=7)) is None
    assert started.matches(START + timedelta(minutes=70))
    for search in (interval(minutes=7).last_before, interval(minutes=7).matches):
        with pytest.raises(InvalidCadence, match="it has no start"):
            search(START)


def test_an_instant_needs_a_zone():
    for search in (daily("09:00").last_before, daily("09:00").matches):
        with pytest.raises(NaiveInstant):
            search(datetime(2027, 1, 1))
