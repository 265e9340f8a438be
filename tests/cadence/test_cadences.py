"""The cadences other than cron: their occurrences, filters and errors."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

import pytest

from duetime.cadence import (
    InvalidCadence,
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
    weekly,
)
from tests.cadence.few import NOON, few
from tests.cases import for_each


@for_each(
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
)
def test_a_cadence_has_the_occurrences_of_its_description(cadence, expected):
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


def test_an_interval_counts_from_its_start_across_clock_changes():
    started = interval(hours=7).starting(datetime(2026, 3, 28, 20, tzinfo=UTC))

    assert few(started, 3, datetime(2026, 3, 28, 20, tzinfo=UTC)) == [
        "03-29 03:00",
        "03-29 10:00",
        "03-29 17:00",
    ]
    assert few(started, 1, datetime(2020, 1, 1, tzinfo=UTC)) == ["03-29 03:00"]


def test_an_interval_continues_to_count_outside_its_window():
    started = interval(minutes=25, window=("09:00", "10:00"), tz="Europe/Paris").starting(NOON)

    assert few(started, 5) == ["01-16 08:00", "01-16 08:25", "01-16 08:50", "01-17 08:10", "01-17 08:35"]


def test_an_interval_that_never_meets_its_window_has_no_next_occurrence():
    stored = parse("interval 1d window=09:00-09:01 start=2026-01-15T12:00:00Z")
    assert stored.next_after(NOON) is None


def test_a_default_zone_applies_only_to_a_cadence_without_a_zone():
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
def test_the_precision_is_seconds_if_an_occurrence_has_seconds(cadence, expected):
    assert cadence.precision == expected


@for_each(
    ("made", "message"),
    [
        (every, "takes no time"),
        (lambda: every(minutes=0), r"every\(minutes=0\)"),
        (lambda: every(minutes=-5), "takes no time"),
        (lambda: every(seconds=0.5), "fraction of a second"),
        (lambda: every(hours=25), "restarts each day"),
        (lambda: every(days=2), "the 2 days have no anchor"),
        (lambda: every(days=2, anchor="2026-02-30"), "anchor: no such date"),
        (lambda: every(minutes=float("nan")), "no length of time"),
        (lambda: every(minutes=10, window=("09:01", "09:09")), "never opens"),
        (lambda: every(minutes=10, window=("09:00",)), "a start and an end"),
        (lambda: every(minutes=10, window=("09:00", "25:00")), "no time of day"),
        (lambda: daily("09:00", window=("10:00", "11:00")), "never opens"),
        (lambda: interval(minutes=0), "takes no time"),
        (lambda: interval(days=40_000), "longer than a hundred years"),
        (lambda: daily("9"), "no time of day"),
        (lambda: daily("24:00"), "no time of day"),
        (lambda: daily("٠٩:٠٠"), "no time of day"),
        (lambda: daily(time(9, tzinfo=UTC)), "tz= for the zone"),
        (lambda: weekly("", "09:00"), "not one of its words"),
        (lambda: weekly([], "09:00"), "nothing is listed"),
        (lambda: weekly("mon", "09:00", every=2), "give anchor="),
        (lambda: weekly("mon", "09:00", every=0), "no number of weeks"),
        (lambda: weekly("mon", "09:00", every=True), "no number of weeks"),
        (lambda: weekly("1", "09:00"), "not one of its words"),
        (lambda: monthly("32", "09:00"), "out of range"),
        (lambda: monthly("*", "09:00"), "not days of the month"),
        (lambda: monthly("last-31", "09:00"), "before the month begins"),
        (lambda: monthly("30", "09:00", months="feb"), "never fires"),
        (lambda: nth_weekday("sixth", "mon", "09:00"), "not one of its words"),
        (lambda: nth_weekday("last-1", "mon", "09:00"), "'last-1' is a range that runs backwards"),
        (lambda: daily("09:00", weeks="last-first"), "'last-first' is a range that runs backwards"),
        (lambda: nth_weekday("first", "mon", "09:00", days="tue"), "never fires"),
        (lambda: once("2027-02-30 09:00"), "no such date"),
        (lambda: once("2027-06-01"), "no such date and time"),
        (lambda: once("tomorrow"), "no such date"),
        (lambda: once("2027-06-01T09:00Z", tz="Europe/Paris"), "has its zone already"),
        (lambda: once(datetime(2027, 6, 1, microsecond=5)), "fraction of a second"),
        (lambda: on_event("", "OrderPlaced"), "source is empty"),
        (lambda: on_event("orders", " "), "type is empty"),
        (lambda: on_event("\ud800", "OrderPlaced"), "source is empty, or no text"),
        (lambda: on_event("orders", "OrderPlaced", match={"at": NOON}), "not JSON"),
    ],
)
def test_an_invalid_cadence_is_rejected_with_the_reason(made, message):
    with pytest.raises(InvalidCadence, match=message):
        made()


def test_an_event_trigger_has_the_pattern_of_its_rule():
    assert on_event("orders", "OrderPlaced").pattern() == {
        "source": ["orders"],
        "detail-type": ["OrderPlaced"],
    }
    assert on_event("orders", "Order Placed", match={"kind": ["gift"]}).pattern() == {
        "source": ["orders"],
        "detail-type": ["Order Placed"],
        "detail": {"kind": ["gift"]},
    }


def test_between_excludes_its_start_and_includes_its_end():
    quarter = every(minutes=15)
    found = list(quarter.between(NOON, NOON + timedelta(minutes=30)))

    assert found == [NOON + timedelta(minutes=15), NOON + timedelta(minutes=30)]
    assert list(quarter.between(NOON, NOON)) == []
    assert list(quarter.between(NOON, NOON - timedelta(hours=1))) == []
