"""Sentences and notes say what the cadence does."""

from __future__ import annotations

import calendar
import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duetime.cadence import (
    Calendar,
    InvalidCadence,
    business_day,
    cadence_warnings,
    cron,
    daily,
    monthly,
    parse,
    to_rrule,
    to_systemd,
    weekly,
    yearly,
)
from duetime.cadence import days as days_module
from duetime.cadence.days import month_in
from tests.cases import for_each

START = datetime(2027, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)


@given(st.sampled_from(["minute", "second"]), st.integers(2, 29), st.integers(0, 10))
def test_a_rhythm_is_named_only_if_it_is_even_or_with_its_ends(unit, step, first):
    text = f"{first or '*'}/{step}"
    cadence = cron(f"{text} * * * *" if unit == "minute" else f"{text} * * * * *")
    found = re.match(rf"every (\d+) {unit}s(?: from (?:{unit} )?(\d+))?(?: to (\d+))?", cadence.describe())
    runs = [*cadence.between(START - timedelta(seconds=1), START + DAY / 24)]
    values = [
        getattr(at, unit) for at in runs if at < START + (DAY / 24 if unit == "minute" else DAY / 1_440)
    ]
    if found is None:
        return
    gaps = {later - earlier for earlier, later in pairwise(runs)}
    assert len(gaps) == 1 or (int(found[2]), int(found[3])) == (values[0], values[-1])
    assert int(found[1]) in {gap // timedelta(**{f"{unit}s": 1}) for gap in gaps}


def test_an_uneven_rhythm_is_no_even_one():
    assert cron("*/7 * * * *").describe() == "every 7 minutes from 0 to 56 past every hour, UTC"
    assert cron("5/7 9-17 * * *").describe() == (
        "every 7 minutes from 5 to 54 past the hour, from 09:00 to 17:59, UTC"
    )
    assert cron("*/15 */5 * * *").describe() == "every 15 minutes, in hours 0, 5, 10, 15 and 20, UTC"
    assert cron("*/25 * * * * *").describe() == "every 25 seconds from 0 to 50 of every minute, UTC"


@pytest.mark.parametrize(
    ("weekend", "words"),
    [(["fri", "sat"], "with Friday and Saturday as the weekend"), (["sun"], "with Sunday as the weekend")],
)
def test_another_weekend_is_named(weekend, words):
    own = Calendar(exclude=["2027-01-01"], weekend=weekend)
    assert words in business_day("last", "09:00", calendar=own).describe()
    assert (
        "weekend" not in business_day("last", "09:00", calendar=Calendar(exclude=["2027-01-01"])).describe()
    )


MISSING = [
    (cron("0 9 31 * *"), 31),
    (monthly(31, "09:00"), 31),
    (monthly("30,31", "09:00", months="feb,mar"), 30),
    (monthly(29, "09:00"), 29),
    (monthly(31, "09:00", every=5, anchor="2027-01-01"), 31),
    (monthly("31w", "09:00"), 31),
    (monthly("last-30", "09:00"), 31),
    (yearly("02-29", "09:00"), 29),
    (yearly("02-29", "09:00", every=2, anchor="2028-01-01"), 29),
]
COMPLETE = [
    cron("0 9 25-31 * *"),
    cron("0 9 */10 * *"),
    yearly("01-31,02-28", "09:00"),
    monthly("15w,lastw", "09:00"),
    cron("0 9 31 1,3 *"),
    cron("0 9 31 * MON", day_rule="or"),
    monthly("31", "09:00", months="jan,mar"),
    monthly("31", "09:00", every=12, anchor="2027-01-01"),
    monthly("31,last", "09:00"),
    monthly("31-or-last", "09:00"),
    yearly("01-31,12-31", "09:00"),
    daily("09:00"),
    parse("manual"),
]


@pytest.mark.parametrize(("cadence", "day"), MISSING, ids=str)
def test_a_month_without_the_date_has_the_same_note_in_every_kind(cadence, day):
    [note] = cadence_warnings(cadence)
    assert note == (
        f"a month without a day {day} is passed over; L is the last day of each,"
        f' and monthly("{day}-or-last", ...) that of those'
    )


@pytest.mark.parametrize(
    ("cadence", "day"),
    [
        (monthly("1,31", "09:00"), 31),
        (cron("0 9 28,31 * *"), 31),
        (monthly("15,31w", "09:00"), 31),
        (monthly("15,last-30", "09:00"), 31),
        (monthly("1,30", "09:00", months="feb,mar"), 30),
        (yearly("02-28,02-29", "09:00"), None),
        (yearly("01-31,02-29,02-01", "09:00"), 29),
    ],
    ids=str,
)
def test_a_month_with_other_runs_has_the_note_too(cadence, day):
    notes = [note for note in cadence_warnings(cadence) if "a month without a day" in note]
    assert [re.search(r"a day (\d+) has no run for it; .*-or-last", note)[1] for note in notes] == (
        [str(day)] if day else []
    )


@pytest.mark.parametrize(
    ("cadence", "first"),
    [
        (weekly("mon", "09:00", every=52, anchor="2027-01-04", months="jul"), "2152-07-31"),
        (yearly("02-29", "09:00", every=28, anchor="2028-01-01", days="wed"), "2728-02-29"),
        (monthly(1, "09:00", every=1_200, anchor="2027-01-01"), None),
        (yearly("02-29", "09:00", every=4, anchor="2028-01-01"), None),
        (daily("09:00", start="2060-01-01"), None),
        (parse("once 2060-01-01T09:00"), None),
        (parse("0 9 29 2 MON day_rule=and"), "2044-02-29"),
    ],
    ids=str,
)
@pytest.mark.parametrize("start", [START, None])
def test_a_first_run_after_many_years_is_warned_of(cadence, first, start):
    notes = [note for note in cadence_warnings(cadence, start) if "next run" in note]
    assert [re.search(r"next run is on (\S+),", note)[1] for note in notes] == ([first] if first else [])


@pytest.mark.parametrize("cadence", COMPLETE, ids=str)
def test_a_cadence_that_runs_in_each_of_its_months_has_no_such_note(cadence):
    assert not [note for note in cadence_warnings(cadence) if "passed over" in note]


@pytest.mark.parametrize(
    "days", ["30-or-last", "29-or-last,31-or-last", "5,30-or-last", "31-or-last", "last,30-or-last"]
)
@pytest.mark.parametrize("options", ["", " months=feb,apr", " every=3 anchor=2027-02-01"])
def test_the_last_day_stands_in_for_a_missing_one(days, options):
    cadence = parse(f"monthly {days} 09:00{options}")
    assert parse(cadence.text) == cadence
    found = {at.date() for at in cadence.between(START, START + 800 * DAY)}
    expected = set()
    for n in range(800):
        day = (START + n * DAY).date()
        length = calendar.monthrange(day.year, day.month)[1]
        dates = {
            length if item == "last" else min(int(item.partition("-")[0]), length) for item in days.split(",")
        }
        is_month = (
            day.month in (2, 4)
            if "months" in options
            else (day.month - 2) % 3 == 0
            if "every" in options
            else True
        )
        if day.day in dates and is_month:
            expected.add(day)
    assert found == expected


def test_the_last_day_in_the_place_of_another_is_described_and_not_exported():
    cadence = monthly("30-or-last", "09:00")
    assert cadence.describe() == "every month on day 30 or the last day at 09:00, UTC"
    assert cadence.name == "Monthly_30-or-last_09_00"
    with pytest.raises(InvalidCadence, match="cannot express the last day in the place of another"):
        to_rrule(cadence, start=START)
    with pytest.raises(InvalidCadence, match="cannot express the last day in the place of another"):
        to_systemd(cadence)
    for wrong in ("28-or-last", "32-or-last", "30-or-last-1", "-or-last"):
        with pytest.raises(InvalidCadence):
            monthly(wrong, "09:00")


def test_a_wake_covers_the_last_day_in_the_place_of_another():
    cadence = monthly("30-or-last", "09:00")
    occurrences = [*cadence.between(START, START + 400 * DAY)]
    fired, at = set(), START
    [wake] = cadence.wakes()
    while (at := wake.next_after(at)) is not None and at < START + 400 * DAY:
        fired.add(at)
    assert {*occurrences} <= fired


@pytest.mark.parametrize(
    "build",
    [
        lambda: monthly(30, "09:00", every=1_188, anchor="2027-02-01"),
        lambda: yearly("02-29", "09:00", every=100, anchor="2001-01-01"),
        lambda: yearly("02-29", "09:00", every=99, anchor="2027-01-01", days="mon").next_after(START),
    ],
)
def test_a_long_cycle_is_searched_in_its_own_months_alone(build):
    before = month_in.cache_info().misses
    with suppress(InvalidCadence):
        build()
    assert month_in.cache_info().misses - before < 500


@pytest.mark.parametrize(
    ("dates", "most"),
    [((), 28), (("12-25", "fri"), 12 * 28), (("12-25", "2027-05-07", "2028-05-26"), 12 * 28 + 24)],
    ids=["no calendar", "days of each year", "single dates"],
)
def test_business_days_are_computed_once_for_each_kind_of_month(dates, most):
    calendar = Calendar(exclude=dates) if dates else None
    cadence = business_day("2,last", "09:00", start="2027-01-01", count=2_000, calendar=calendar)
    computed = []
    days = cadence.wall.days
    select = days._select
    days._select = lambda month: computed.append(month) or select(month)
    assert cadence.next_after(datetime(2100, 1, 1, tzinfo=UTC)) is not None
    assert len(computed) <= most


COUNTED = {"start": "2027-01-01", "count": 10_000}


@pytest.mark.parametrize(
    "build",
    [
        lambda: business_day("1", "09:00", **COUNTED),
        lambda: business_day("1", "09:00", **COUNTED, calendar=Calendar(exclude=["12-25", "2027-01-01"])),
        lambda: monthly("1", "09:00", **COUNTED, calendar=Calendar(["fri"], instead="next_business_day")),
        lambda: yearly("02-29", "09:00", **COUNTED, tz="Europe/Paris"),
    ],
    ids=["business days", "with a calendar", "moved days", "leap days"],
)
def test_a_count_is_not_counted_to_its_end_until_a_question_comes_near_it(build):
    before = month_in.cache_info().misses
    cadence = build()
    assert cadence.next_after(datetime(2027, 6, 1, tzinfo=UTC)) is not None
    assert cadence.last_before(datetime(2030, 6, 1, tzinfo=UTC)) is not None
    assert month_in.cache_info().misses - before < 1_000


MOVING = Calendar(exclude=["sat", "sun", "12-25", "2027-05-07"], instead="next_business_day")


@pytest.mark.parametrize("every", [2, 28, 99])
@pytest.mark.parametrize(
    "options", [{"offset": "3b"}, {"offset": "-2d"}, {"offset": "-31b"}, {"calendar": MOVING}]
)
def test_a_long_cycle_whose_days_move_is_searched_near_its_own_months(every, options):
    computed = []
    found = days_module.Days.admitted

    def counted(days, month):
        computed.append(month)
        return found(days, month)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(days_module.Days, "admitted", counted)
        assert yearly("06-30", "09:00", every=every, anchor="2027-01-01", **options).next_after(START)
    assert len(computed) < 60


def searches_until_the_end(cadence):
    """Return how often a counted cadence is searched before its last time is known, and that time."""
    search, searched = cadence._next_of_all, []
    last = cadence._limits.last(lambda at: searched.append(at) or search(at))
    return len(searched), last


@pytest.mark.parametrize("tz", ["UTC", "Europe/Paris"])
@pytest.mark.parametrize(
    ("build", "most"),
    [
        (lambda **options: daily("09:00", **options), 500),
        (lambda **options: daily("09:00,17:30", calendar=MOVING, **options), 1_000),
        (lambda **options: monthly("1,15w", "00:00", **options), 500),
        (lambda **options: business_day("1,last", "09:00", offset="2b", **options), 500),
        (lambda **options: cron("*/10 9-16 * * *", **options), 4_000),
        (lambda **options: daily("02:30", dst="eventbridge", **options), 4_000),
    ],
)
def test_a_long_count_is_counted_by_months_and_years(tz, build, most):
    cadence = build(tz=tz, **COUNTED)
    number, last = searches_until_the_end(cadence)
    assert number < most
    uncounted = build(tz=tz, start=COUNTED["start"])
    times = islice(uncounted.between(START - DAY, datetime(9999, 1, 1, tzinfo=UTC)), COUNTED["count"])
    assert [*times][-1] == datetime.fromtimestamp(last, UTC)


FIELDS = [(0, 0, 59), (1, 0, 23), (2, 1, 31), (3, 1, 12), (4, 0, 6)]
STEPPED = [(field, f"{low}-{high}", n) for field, low, high in FIELDS for n in range(2, high + 1)]


@for_each(("field", "span", "step"), STEPPED)
def test_a_range_of_all_values_has_the_notes_of_its_star(field, span, step):
    def notes(item: str) -> list[str]:
        fields = ["0", "0", *"***"]
        fields[field] = item
        return [note.replace(item, "ITEM") for note in cadence_warnings(cron(" ".join(fields)))]

    low, high = map(int, span.split("-"))
    last = range(low, high + 1, step)[-1]
    starred = [note for note in notes(f"*/{step}") if "restarts" in note]
    for item in {f"{span}/{step}", f"{low}/{step}", f"{low}-{last}/{step}", f"?/{step}", f"{span}/0{step}"}:
        if last > low:
            assert [note for note in notes(item) if "restarts" in note] == starred, item


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("yearly 01-01,06-30 09:00 every=99 anchor=2026-01-05 days=sat,sun", "2125-06-30"),
        ("yearly 01-01 00:00 every=52 anchor=2026-01-05", "2078-01-01"),
        ("monthly 1 09:00 every=240 anchor=2026-01-05", "2046-01-01"),
    ],
)
def test_a_cycle_that_begins_after_many_years_is_noted(text, first):
    assert any(f"its next run is on {first}" in note for note in cadence_warnings(parse(text)))


@pytest.mark.parametrize(
    "text",
    ["yearly 01-06 00:00 every=52 anchor=2026-01-05", "yearly 01-01 00:00 every=9 anchor=2026-01-05"],
)
def test_a_cycle_that_begins_soon_is_not_noted(text):
    assert not any("its next run is on" in note for note in cadence_warnings(parse(text)))


def test_the_working_days_of_a_calendar_without_a_name_are_described():
    calendar = Calendar(["sat"], working=["2026-02-28"])
    assert daily("09:00", calendar=calendar).describe() == (
        "every day at 09:00, except on sat, with work on 2026-02-28, UTC"
    )
    many = Calendar(["sat"], working=[f"2026-02-{day}" for day in range(10, 28)])
    assert "with work on 18 listed days" in daily("09:00", calendar=many).describe()
    named = Calendar(["sat"], working=["2026-02-28"], name="fr")
    assert "work" not in daily("09:00", calendar=named).describe()


def test_an_uneven_step_of_seconds_restarts_each_minute():
    assert "*/7 restarts each minute" in " ".join(cadence_warnings(parse("*/7 * * * * *")))
