"""The cadences that are said in words: what they mean, what narrows them, and what they refuse."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duetime.cadence import (
    Calendar,
    InvalidCadence,
    NeverFires,
    cron,
    daily,
    every,
    interval,
    manual,
    monthly,
    nth_weekday,
    on_event,
    once,
    weekly,
)
from tests.cadence.oracle import SECOND, occurrences
from tests.cadence.strategies import zoned_starts

NOON = datetime(2026, 1, 15, 12, tzinfo=UTC)
"""A Thursday."""


def few(cadence, count=4, after=NOON, shown="%m-%d %H:%M"):
    found = []
    while len(found) < count and (after := cadence.next_after(after)) is not None:
        found.append(after.strftime(shown))
    return found


@pytest.mark.parametrize(
    ("cadence", "expected"),
    [
        (daily("09:00"), ["01-16 09:00", "01-17 09:00", "01-18 09:00", "01-19 09:00"]),
        (daily(time(9, 30)), ["01-16 09:30", "01-17 09:30", "01-18 09:30", "01-19 09:30"]),
        (daily("09:00", days="mon-fri"), ["01-16 09:00", "01-19 09:00", "01-20 09:00", "01-21 09:00"]),
        (daily("09:00", days="weekend"), ["01-17 09:00", "01-18 09:00", "01-24 09:00", "01-25 09:00"]),
        (daily("09:00", days=["sat", "Mon"]), ["01-17 09:00", "01-19 09:00", "01-24 09:00", "01-26 09:00"]),
        (
            daily("09:00", months="mar,nov-jan", days="sun"),
            ["01-18 09:00", "01-25 09:00", "03-01 09:00", "03-08 09:00"],
        ),
        (
            daily("09:00", months=[2], weeks=["first"]),
            ["02-01 09:00", "02-02 09:00", "02-03 09:00", "02-04 09:00"],
        ),
        (
            daily("09:00", weeks="last", days="fri"),
            ["01-30 09:00", "02-27 09:00", "03-27 09:00", "04-24 09:00"],
        ),
        (daily("09:00", weeks="5"), ["01-29 09:00", "01-30 09:00", "01-31 09:00", "03-29 09:00"]),
        (every(minutes=10), ["01-15 12:10", "01-15 12:20", "01-15 12:30", "01-15 12:40"]),
        (every(minutes=7), ["01-15 12:01", "01-15 12:08", "01-15 12:15", "01-15 12:22"]),
        (every(hours=5), ["01-15 15:00", "01-15 20:00", "01-16 00:00", "01-16 05:00"]),
        (every(hours=24), ["01-16 00:00", "01-17 00:00", "01-18 00:00", "01-19 00:00"]),
        (every(days=1), ["01-16 00:00", "01-17 00:00", "01-18 00:00", "01-19 00:00"]),
        (every(days=3, anchor="2026-01-01"), ["01-16 00:00", "01-19 00:00", "01-22 00:00", "01-25 00:00"]),
        (every(hours=4, days="sun"), ["01-18 00:00", "01-18 04:00", "01-18 08:00", "01-18 12:00"]),
        (
            every(hours=4, window=("08:00", "16:00")),
            ["01-15 16:00", "01-16 08:00", "01-16 12:00", "01-16 16:00"],
        ),
        (every(hours=4, window="08:00-16:00"), ["01-15 16:00", "01-16 08:00", "01-16 12:00", "01-16 16:00"]),
        (
            every(hours=1, window=("22:00", "01:00")),
            ["01-15 22:00", "01-15 23:00", "01-16 00:00", "01-16 01:00"],
        ),
        (weekly("mon,fri", "06:00"), ["01-16 06:00", "01-19 06:00", "01-23 06:00", "01-26 06:00"]),
        (
            weekly("mon,fri", "06:00", every=2, anchor=date(2026, 1, 5)),
            ["01-19 06:00", "01-23 06:00", "02-02 06:00", "02-06 06:00"],
        ),
        (
            weekly("sun", "06:00", every=2, anchor="2026-01-05"),
            ["01-25 06:00", "02-08 06:00", "02-22 06:00", "03-08 06:00"],
        ),
        (
            weekly("mon", "06:00", every=2, anchor="2126-01-07"),
            ["01-19 06:00", "02-02 06:00", "02-16 06:00", "03-02 06:00"],
        ),
        (monthly("1,last", "00:30"), ["01-31 00:30", "02-01 00:30", "02-28 00:30", "03-01 00:30"]),
        (monthly("31", "00:30"), ["01-31 00:30", "03-31 00:30", "05-31 00:30", "07-31 00:30"]),
        (monthly(30, "00:30"), ["01-30 00:30", "03-30 00:30", "04-30 00:30", "05-30 00:30"]),
        (monthly([15, "last-1"], "12:00"), ["01-30 12:00", "02-15 12:00", "02-27 12:00", "03-15 12:00"]),
        (monthly("1w,lastw", "12:00"), ["01-30 12:00", "02-02 12:00", "02-27 12:00", "03-02 12:00"]),
        (monthly("1", "12:00", days="mon-fri"), ["04-01 12:00", "05-01 12:00", "06-01 12:00", "07-01 12:00"]),
        (nth_weekday("first", "mon", "06:00"), ["02-02 06:00", "03-02 06:00", "04-06 06:00", "05-04 06:00"]),
        (nth_weekday("last", "fri", "06:00"), ["01-30 06:00", "02-27 06:00", "03-27 06:00", "04-24 06:00"]),
        (nth_weekday(5, "sat", "06:00"), ["01-31 06:00", "05-30 06:00", "08-29 06:00", "10-31 06:00"]),
        (
            nth_weekday("second,last", "sun,sat", "06:00"),
            ["01-25 06:00", "01-31 06:00", "02-08 06:00", "02-14 06:00"],
        ),
        (once("2027-06-01 09:00"), ["06-01 09:00"]),
        (once("2027-06-01T09:00+02:00"), ["06-01 07:00"]),
        (once(datetime(2027, 6, 1, 9), tz="Europe/Paris"), ["06-01 07:00"]),
        (once("2025-06-01 09:00"), []),
        (
            cron("0 * * * *", window=("09:00", "10:00"), days="sun"),
            ["01-18 09:00", "01-18 10:00", "01-25 09:00", "01-25 10:00"],
        ),
        (interval(minutes=7), ["01-15 12:07", "01-15 12:14", "01-15 12:21", "01-15 12:28"]),
        (interval(weeks=1), ["01-22 12:00", "01-29 12:00", "02-05 12:00", "02-12 12:00"]),
        (manual(), []),
        (on_event("orders", "OrderPlaced"), []),
    ],
    ids=str,
)
def test_a_cadence_has_the_occurrences_that_it_says(cadence, expected):
    assert few(cadence) == expected


def test_a_window_includes_both_its_ends_to_the_second():
    assert few(every(seconds=30, window=("09:00", "09:01")), 4, shown="%H:%M:%S") == [
        "09:00:00",
        "09:00:30",
        "09:01:00",
        "09:00:00",
    ]


def test_a_window_of_a_cron_is_read_in_the_crons_own_zone():
    assert few(cron("0 * * * *", tz="Asia/Tokyo", window=("09:00", "09:30")), 2) == [
        "01-16 00:00",
        "01-17 00:00",
    ]


def test_an_interval_counts_from_its_own_start_across_changes_of_the_clocks():
    started = interval(hours=7).starting(datetime(2026, 3, 28, 20, tzinfo=UTC))

    assert few(started, 3, datetime(2026, 3, 28, 20, tzinfo=UTC)) == [
        "03-29 03:00",
        "03-29 10:00",
        "03-29 17:00",
    ]
    assert few(started, 1, datetime(2020, 1, 1, tzinfo=UTC)) == ["03-29 03:00"]


def test_an_interval_with_a_window_leaves_out_what_lies_outside_and_goes_on_counting():
    started = interval(minutes=25, window=("09:00", "10:00"), tz="Europe/Paris").starting(NOON)

    assert few(started, 5) == ["01-16 08:00", "01-16 08:25", "01-16 08:50", "01-17 08:10", "01-17 08:35"]


def test_an_interval_that_never_falls_into_its_window_ends_instead_of_searching_for_ever():
    assert interval(days=1, window=("09:00", "09:01")).starting(NOON).next_after(NOON) is None


def test_a_zone_that_was_said_stays_and_a_default_fills_in_for_one_that_was_not():
    assert few(daily("09:00").with_default_tz("Asia/Tokyo"), 1) == ["01-16 00:00"]
    assert daily("09:00", tz="UTC").with_default_tz("Asia/Tokyo") == daily("09:00", tz="UTC")
    assert daily("09:00").tz == "UTC"
    assert daily("09:00").with_default_tz("Asia/Tokyo").tz == "Asia/Tokyo"


@pytest.mark.parametrize(
    ("cadence", "expected"),
    [
        (daily("09:00"), "minute"),
        (daily("09:00:30"), "second"),
        (cron("*/5 * * * *"), "minute"),
        (cron("*/5 * * * * *"), "second"),
        (every(minutes=5), "minute"),
        (every(seconds=90), "second"),
        (interval(minutes=1), "minute"),
        (interval(minutes=1).starting(NOON + timedelta(seconds=7)), "second"),
        (manual(), "minute"),
    ],
    ids=str,
)
def test_a_cadence_knows_whether_it_needs_seconds(cadence, expected):
    assert cadence.precision == expected


class TestCalendar:
    """Dates to stay silent on, or to keep to."""

    def test_excluded_dates_days_of_the_year_and_weekdays_are_skipped(self):
        calendar = Calendar(exclude=[date(2026, 1, 16), "01-19", "sun"])

        assert few(daily("09:00", calendar=calendar)) == [
            "01-17 09:00",
            "01-20 09:00",
            "01-21 09:00",
            "01-22 09:00",
        ]

    def test_included_dates_are_the_only_ones(self):
        calendar = Calendar(include=["2026-03-01", "2026-03-05"], exclude=["2026-03-05"])

        assert few(daily("09:00", calendar=calendar)) == ["03-01 09:00"]

    def test_the_next_business_day_takes_over_at_the_same_time_and_only_once(self):
        calendar = Calendar(exclude=["2026-01-16"], instead="next_business_day")

        assert few(monthly("16", "09:00", calendar=calendar), 1) == ["01-19 09:00"]
        assert few(daily("09:00", calendar=calendar), 3) == ["01-17 09:00", "01-18 09:00", "01-19 09:00"]

    def test_a_move_may_cross_into_a_month_that_a_filter_leaves_out(self):
        calendar = Calendar(exclude=["01-31"], instead="next_business_day")

        assert few(monthly("31", "09:00", months="jan", calendar=calendar), 2) == [
            "02-02 09:00",
            "02-01 09:00",
        ]

    def test_excluded_weekends_move_to_monday(self):
        calendar = Calendar(exclude=["sat", "sun"], instead="next_business_day")

        assert few(monthly("1", "09:00", calendar=calendar), 3) == [
            "02-02 09:00",
            "03-02 09:00",
            "04-01 09:00",
        ]

    def test_after_the_last_included_date_there_is_no_next_and_the_search_is_short(self):
        calendar = Calendar(include=["2025-06-01"])

        assert daily("09:00", calendar=calendar).next_after(NOON) is None

    @pytest.mark.parametrize(
        "cadence",
        [
            lambda: daily("09:00", days="sat", calendar=Calendar(exclude=["sat"])),
            lambda: daily(
                "09:00", calendar=Calendar(exclude=["mon", "tue", "wed", "thu", "fri", "sat", "sun"])
            ),
            lambda: monthly("25", "09:00", months="dec", calendar=Calendar(exclude=["12-25"])),
            lambda: daily("09:00", months="feb", calendar=Calendar(include=["2026-03-01"])),
            lambda: weekly("mon", "09:00", weeks="first", months="jan", calendar=Calendar(include=["01-08"])),
        ],
    )
    def test_a_calendar_that_leaves_no_day_is_refused(self, cadence):
        with pytest.raises(NeverFires):
            cadence()

    @pytest.mark.parametrize(
        "made",
        [
            Calendar,
            lambda: Calendar(exclude=["2026-02-30"]),
            lambda: Calendar(exclude=["13-01"]),
            lambda: Calendar(exclude=["someday"]),
            lambda: Calendar(exclude="2026-01-01"),
            lambda: Calendar(exclude=["sat"], instead="previous"),
            lambda: Calendar(exclude=["sat"], name="with spaces"),
            lambda: daily("09:00", calendar=["2026-01-01"]),
        ],
    )
    def test_a_mistyped_calendar_is_refused(self, made):
        with pytest.raises(InvalidCadence, match="calendar: "):
            made()


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (every, "takes no time"),
        (lambda: every(minutes=0), r"every\(minutes=0\)"),
        (lambda: every(minutes=-5), "takes no time"),
        (lambda: every(seconds=0.5), "fraction of a second"),
        (lambda: every(hours=25), "starts afresh each day"),
        (lambda: every(days=2), "nothing says from when the 2 days count"),
        (lambda: every(days=2, anchor="2026-02-30"), "anchor: no such date"),
        (lambda: every(minutes=float("nan")), "no length of time"),
        (lambda: every(minutes=10, window=("09:01", "09:09")), "never opens"),
        (lambda: every(minutes=10, window=("09:00",)), "it opens and it shuts"),
        (lambda: every(minutes=10, window=("09:00", "25:00")), "no time of day"),
        (lambda: daily("09:00", window=("10:00", "11:00")), "never opens"),
        (lambda: interval(minutes=0), "takes no time"),
        (lambda: interval(days=40_000), "longer than a hundred years"),
        (lambda: daily("9"), "no time of day"),
        (lambda: daily("24:00"), "no time of day"),
        (lambda: daily("٠٩:٠٠"), "no time of day"),
        (lambda: daily(time(9, tzinfo=UTC)), "say tz="),
        (lambda: weekly("", "09:00"), "not one of its words"),
        (lambda: weekly([], "09:00"), "nothing is listed"),
        (lambda: weekly("mon", "09:00", every=2), "say anchor="),
        (lambda: weekly("mon", "09:00", every=0), "no number of weeks"),
        (lambda: weekly("mon", "09:00", every=True), "no number of weeks"),
        (lambda: weekly("1", "09:00"), "not one of its words"),
        (lambda: monthly("32", "09:00"), "out of range"),
        (lambda: monthly("*", "09:00"), "not days of the month"),
        (lambda: monthly("last-31", "09:00"), "before the month begins"),
        (lambda: monthly("30", "09:00", months="feb"), "never fires"),
        (lambda: nth_weekday("sixth", "mon", "09:00"), "not one of its words"),
        (lambda: nth_weekday("first", "mon", "09:00", days="tue"), "never fires"),
        (lambda: once("2027-02-30 09:00"), "no such date"),
        (lambda: once("2027-06-01"), "no such date and time"),
        (lambda: once("tomorrow"), "no such date"),
        (lambda: once("2027-06-01T09:00Z", tz="Europe/Paris"), "has its zone already"),
        (lambda: once(datetime(2027, 6, 1, microsecond=5)), "fraction of a second"),
        (lambda: on_event("", "OrderPlaced"), "source is empty"),
        (lambda: on_event("orders", " "), "type is empty"),
        (lambda: on_event("orders", "OrderPlaced", match={"at": NOON}), "not JSON"),
    ],
)
def test_what_cannot_be_is_refused_with_the_reason(made, said):
    with pytest.raises(InvalidCadence, match=said):
        made()


def test_an_event_trigger_knows_the_pattern_of_its_rule():
    assert on_event("orders", "OrderPlaced").pattern() == {
        "source": ["orders"],
        "detail-type": ["OrderPlaced"],
    }
    assert on_event("orders", "Order Placed", match={"kind": ["gift"]}).pattern() == {
        "source": ["orders"],
        "detail-type": ["Order Placed"],
        "detail": {"kind": ["gift"]},
    }


def test_between_leaves_out_its_start_and_includes_its_end():
    quarter = every(minutes=15)
    found = list(quarter.between(NOON, NOON + timedelta(minutes=30)))

    assert found == [NOON + timedelta(minutes=15), NOON + timedelta(minutes=30)]
    assert list(quarter.between(NOON, NOON)) == []
    assert list(quarter.between(NOON, NOON - timedelta(hours=1))) == []


WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
clocks = st.integers(0, 24 * 60 - 1).map(lambda minute: time(minute // 60, minute % 60))


@settings(deadline=None)
@given(
    step=st.sampled_from([1, 5, 7, 10, 25, 60, 90, 300, 1440]),
    window=st.none() | st.tuples(clocks, clocks),
    days=st.none() | st.lists(st.sampled_from(WEEKDAYS), min_size=1, max_size=6),
    silent=st.lists(st.sampled_from([*WEEKDAYS[:3], "03-29", "10-25"]), max_size=3),
    where=zoned_starts(),
)
def test_filters_compose_as_the_oracle_says(step, window, days, silent, where):
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


@settings(deadline=None, max_examples=20)
@given(step=st.integers(1, 4_000), where=zoned_starts())
def test_every_so_many_seconds_starts_afresh_at_each_midnight(step, where):
    tz, start = where
    end = start + timedelta(hours=3)

    def matches(local):
        return (local.hour * 3600 + local.minute * 60 + local.second) % step == 0

    expected = occurrences(matches, tz, start, end, interval=True, step=SECOND)
    assert list(every(seconds=step, tz=tz).between(start, end)) == expected


@settings(deadline=None)
@given(
    weeks=st.integers(1, 9),
    anchor=st.dates(date(1990, 1, 1), date(2050, 1, 1)),
    days=st.sets(st.sampled_from(WEEKDAYS), min_size=1),
)
def test_every_so_many_weeks_is_counted_from_the_monday_of_its_anchor(weeks, anchor, days):
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
