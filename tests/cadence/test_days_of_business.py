"""Business days of the month, offsets of days, and dates of every n-th year, each against a plain search."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from duetime.cadence import (
    Calendar,
    InvalidCadence,
    business_day,
    cron,
    daily,
    monthly,
    nth_weekday,
    parse,
    planned_until,
    weekly,
    yearly,
)
from tests.cadence.few import few

START = datetime(2026, 12, 31, 23, 59, tzinfo=UTC)
END = START + timedelta(days=731)
ONE = timedelta(days=1)
HOLIDAYS = frozenset(
    date(2027, month, day)
    for month, day in ((1, 1), (1, 4), (3, 26), (3, 29), (5, 31), (11, 1), (12, 30), (12, 31))
)
EVERY_DAY = [date(2026, 11, 1) + ONE * n for n in range(850)]


def is_business_day(day, holidays):
    return day.weekday() < 5 and day not in holidays


def dates(cadence):
    return [at.date() for at in cadence.between(START, END)]


def in_range(days):
    return sorted({day for day in days if START.date() < day <= END.date()})


holidays = st.one_of(
    st.just(frozenset()),
    st.just(HOLIDAYS),
    st.frozensets(st.sampled_from(EVERY_DAY), min_size=1, max_size=60),
)


@given(
    st.sets(st.integers(1, 23) | st.integers(-23, -1), min_size=1, max_size=4),
    holidays,
)
def test_business_days_are_counted_from_both_ends_of_the_month(numbers, silent):
    spelled = [str(n) if n > 0 else f"last{n + 1}" if n < -1 else "last" for n in numbers]
    calendar = Calendar(exclude=silent) if silent else None
    cadence = business_day(spelled, "09:00", calendar=calendar)
    found = []
    for month in {day.replace(day=1) for day in EVERY_DAY}:
        days = [day for day in EVERY_DAY if day.replace(day=1) == month and is_business_day(day, silent)]
        found += [days[n - 1 if n > 0 else n] for n in numbers if abs(n) <= len(days)]
    assert dates(cadence) == in_range(found)
    assert parse(cadence.text) == cadence


@given(
    st.sampled_from(["1", "last", "15,31", "1,2,3,28"]),
    st.integers(1, 31),
    st.booleans(),
    st.booleans(),
    holidays,
)
def test_days_are_shifted_by_an_offset(on, count, earlier, business, silent):
    assume(not business or count <= 12)
    step = -ONE if earlier else ONE
    calendar = Calendar(exclude=silent) if silent else None
    offset = f"{'-' * earlier}{count}{'b' if business else 'd'}"
    cadence = monthly(on, "09:00", offset=offset, calendar=calendar)
    wide = monthly(on, "09:00").between(START - 60 * ONE, END + 60 * ONE)
    found = []
    for at in wide:
        day, left = at.date(), count
        while left:
            day += step
            left -= not business or is_business_day(day, silent)
        found.append(day)
    assert dates(cadence) == [day for day in in_range(found) if day not in silent]
    again = parse(cadence.text)
    assert (again, again.name) == (cadence, cadence.name)


@given(
    st.sets(st.sampled_from(["01-01", "02-29", "06-30", "12-31", "02-28"]), min_size=1),
    st.integers(1, 7),
    st.dates(date(2000, 1, 1), date(2060, 1, 1)),
)
def test_dates_of_every_nth_year_are_counted_from_the_anchor(on, every, anchor):
    try:
        cadence = yearly(on, "09:00", every=every, anchor=anchor)
    except InvalidCadence:
        assert on == {"02-29"}
        return
    begin, end = datetime(2020, 1, 1, tzinfo=UTC), datetime(2060, 1, 1, tzinfo=UTC)
    expected = [
        day
        for n in range((end - begin).days)
        if f"{(day := begin.date() + ONE * n):%m-%d}" in on and (day.year - anchor.year) % every == 0
    ]
    assert [
        at.date() for at in cadence.between(begin - timedelta(seconds=1), end - timedelta(seconds=1))
    ] == expected
    assert parse(cadence.text) == cadence


def test_february_29_of_odd_years_never_comes():
    with pytest.raises(InvalidCadence, match="it never fires"):
        yearly("02-29", "09:00", every=2, anchor="2027-01-01")
    assert few(yearly("02-29", "09:00", every=3, anchor="2028-01-01"), 2, shown="%Y") == ["2028", "2040"]


@pytest.mark.parametrize(
    ("cadence", "text", "name", "words"),
    [
        (
            business_day("third,last-2", "09:00"),
            "business_day 3,last-2 09:00",
            "BusinessDay_3.last-2_09_00",
            (
                "every month on the 3rd business day and 2 business days before the last business day"
                " at 09:00, UTC"
            ),
        ),
        (
            business_day(1, "09:00", tz="Europe/Paris", months="jan,jul"),
            "business_day 1 09:00 months=jan,jul tz=Europe/Paris",
            "BusinessDay_1_09_00_jan.jul_Europe_Paris",
            "every month on the 1st business day at 09:00, in January and July, Europe/Paris time",
        ),
        (
            yearly(["06-30", "01-01"], "09:00"),
            "yearly 01-01,06-30 09:00",
            "Yearly_01-01.06-30_09_00",
            "every year on January 1 and June 30 at 09:00, UTC",
        ),
        (
            yearly("03-01", "09:00", every=2, anchor=date(2027, 1, 1)),
            "yearly 03-01 09:00 every=2 anchor=2027-01-01",
            "Yearly_03-01_09_00_every2_2027-01-01",
            "every 2 years, counted from 2027-01-01, on March 1 at 09:00, UTC",
        ),
        (
            nth_weekday("first", "mon", "09:00", offset="-1d"),
            "nth_weekday first mon 09:00 offset=-1d",
            "NthWeekday_first_mon_09_00_offset--1d",
            "every month on the first Monday at 09:00, 1 day earlier, UTC",
        ),
        (
            monthly(15, "09:00", offset="+3b"),
            "monthly 15 09:00 offset=3b",
            "Monthly_15_09_00_offset-3b",
            "every month on day 15 at 09:00, 3 business days later, UTC",
        ),
    ],
)
def test_they_have_a_text_a_name_and_a_description(cadence, text, name, words):
    assert (cadence.text, cadence.name, cadence.describe()) == (text, name, words)
    assert parse(text) == cadence


def test_an_offset_comes_after_the_filters_and_before_the_calendar():
    sundays = weekly("mon", "09:00", offset="-1d", days="mon")
    assert {day.weekday() for day in dates(sundays)} == {6}
    calendar = Calendar(exclude=["sun"], instead="next_business_day")
    assert {day.weekday() for day in dates(weekly("mon", "09:00", offset="-1d", calendar=calendar))} == {0}
    assert few(cron("0 9 1 1 *", offset="-1d"), 2, shown="%Y-%m-%d") == ["2026-12-31", "2027-12-31"]
    assert dates(daily("09:00", offset="5d")) == dates(daily("09:00"))


@pytest.mark.parametrize(
    ("build", "problem"),
    [
        (lambda: business_day("0", "09:00"), "business_day: '0' is no business day"),
        (lambda: business_day("24", "09:00"), "business_day: '24' is no business day"),
        (lambda: business_day("last-23", "09:00"), "business_day: 'last-23' is no business day"),
        (lambda: business_day("", "09:00"), "business_day: '' is no business day"),
        (lambda: business_day([], "09:00"), "business_day: nothing is listed"),
        (lambda: business_day(None, "09:00"), "business_day: 'None' is no business day"),
        (lambda: business_day(1, "09:00", weeks="last"), "it never fires"),
        (lambda: yearly("13-01", "09:00"), "yearly: '13-01' is no date"),
        (lambda: yearly("02-30", "09:00"), "yearly: '02-30' is no date"),
        (lambda: yearly([], "09:00"), "yearly: no date is listed"),
        (lambda: yearly(5, "09:00"), "yearly: not a list of dates"),
        (lambda: yearly("01-01", "09:00", every=2), "the 2 years have no anchor"),
        (lambda: daily("09:00", offset="0d"), "offset: '0d' is no number of days"),
        (lambda: daily("09:00", offset="32d"), "offset: '32d' is no number of days"),
        (lambda: daily("09:00", offset=3), "offset: '3' is no number of days"),
    ],
)
def test_invalid_days_are_rejected_with_a_remedy(build, problem):
    with pytest.raises(InvalidCadence) as caught:
        build()
    assert problem in str(caught.value)
    assert caught.value.remedy


def test_their_wakes_plan_each_run_in_time():
    cadence = business_day("last", "09:00", calendar=Calendar(exclude=HOLIDAYS))
    wakes = cadence.wakes()
    for at in cadence.between(START, END):
        assert any(wake.next_after(at - 10 * ONE) <= at for wake in wakes)
        assert planned_until(wakes, at - timedelta(minutes=1)) >= at
