"""Calendars: excluded days, and moved occurrences."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from functools import partial
from itertools import islice

import pytest

from duetime.cadence import (
    Calendar,
    InvalidCadence,
    NeverFires,
    business_day,
    daily,
    monthly,
    parse,
    to_rrule,
    to_systemd,
    weekly,
)
from tests.cadence.few import NOON, few

FEBRUARY = datetime(2026, 2, 1, tzinfo=UTC)


class TestCalendar:
    """Dates to exclude, or the only dates to include."""

    def test_excluded_dates_days_of_the_year_and_weekdays_are_skipped(self):
        calendar = Calendar(exclude=[date(2026, 1, 16), "01-19", "sun"])

        assert few(daily("09:00", calendar=calendar)) == [
            "01-17 09:00",
            "01-20 09:00",
            "01-21 09:00",
            "01-22 09:00",
        ]

    def test_an_empty_text_names_no_unresolved_holidays(self):
        calendar = Calendar(exclude=["12-25"], unresolved="")
        assert calendar == Calendar(exclude=["12-25"], unresolved=None)
        cadence = daily("09:00", calendar=calendar)
        assert parse(cadence.text) == cadence

    def test_included_dates_are_the_only_ones(self):
        calendar = Calendar(include=["2026-03-01", "2026-03-05"], exclude=["2026-03-05"])

        assert few(daily("09:00", calendar=calendar)) == ["03-01 09:00"]

    def test_occurrences_move_to_the_next_business_day_at_the_same_time_and_only_once(self):
        calendar = Calendar(exclude=["2026-01-16"], instead="next_business_day")

        assert few(monthly("16", "09:00", calendar=calendar), 1) == ["01-19 09:00"]
        assert few(daily("09:00", calendar=calendar), 3) == ["01-19 09:00", "01-20 09:00", "01-21 09:00"]
        staying = Calendar(exclude=["2026-01-16"], instead="next_business_day", weekends="keep")
        assert few(daily("09:00", calendar=staying), 3) == ["01-17 09:00", "01-18 09:00", "01-19 09:00"]

    def test_a_move_may_cross_into_a_month_that_a_filter_excludes(self):
        calendar = Calendar(exclude=["01-31"], instead="next_business_day")

        assert few(monthly("31", "09:00", months="jan", calendar=calendar), 2) == [
            "02-02 09:00",
            "02-01 09:00",
        ]

    @pytest.mark.parametrize(
        "instead", ["next_business_day", "previous_business_day", "business_day_of_month"]
    )
    @pytest.mark.parametrize("weekend", [["sat", "sun"], ["fri"], []])
    def test_a_calendar_that_moves_leaves_no_run_on_a_weekend_unless_weekends_are_kept(
        self, instead, weekend
    ):
        excluded = ["2026-05-15", "12-25", "01-01"]
        for stays in (False, True):
            options = {"instead": instead, "weekend": weekend, "weekends": "keep" if stays else "move"}
            calendar = Calendar(excluded, **options)
            for cadence in (
                daily("09:00", calendar=calendar),
                monthly("15,last", "09:00", calendar=calendar),
            ):
                days = [at.date() for at in islice(cadence.between(NOON, NOON + timedelta(days=800)), 900)]
                assert any(f"{day:%a}".lower() in weekend for day in days) == (stays and weekend != [])
                assert not {f"{day:%Y-%m-%d}" for day in days} & {"2026-05-15", "2026-12-25", "2027-01-01"}

    def test_a_working_day_is_a_business_day_whatever_its_weekday_and_is_not_excluded(self):
        calendar = Calendar(exclude=["sat", "2026-02-27"], working=["2026-02-28"])

        assert few(business_day("last", "09:00", calendar=calendar), 2, after=FEBRUARY) == [
            "02-28 09:00",
            "03-31 09:00",
        ]
        assert few(daily("09:00", calendar=calendar, days="fri-sun", months="feb"), 8)[-1] == "02-28 09:00"
        moving = Calendar(["2026-02-27"], working=["2026-02-28"], instead="next_business_day")
        assert few(monthly(27, "09:00", calendar=moving), 1, after=FEBRUARY) == ["02-28 09:00"]
        assert few(
            daily("09:00", days="sat", calendar=Calendar(include=["sun"], working=["2026-02-28"]))
        ) == ["02-28 09:00"]

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
    def test_a_calendar_that_leaves_no_day_is_rejected(self, cadence):
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
            lambda: Calendar(exclude=["sat"], working=["sat"]),
            lambda: Calendar(exclude=["2026-02-28"], working=["2026-02-28"]),
            lambda: Calendar(exclude=["sat"], instead="next_business_day", weekends="stay"),
            lambda: daily("09:00", calendar=["2026-01-01"]),
        ],
    )
    def test_a_mistyped_calendar_is_rejected(self, made):
        with pytest.raises(InvalidCadence, match="calendar: "):
            made()


def of_germany(instead: str = "skip") -> Calendar:
    return Calendar(through="2027-12-31", name="DE", unresolved="DE", instead=instead)


@pytest.mark.parametrize("day", range(7))
def test_an_unresolved_calendar_answers_for_no_day(day):
    with pytest.raises(InvalidCadence, match="its holidays are not known here"):
        of_germany().is_business_day(day)


@pytest.mark.parametrize(
    "export",
    [to_systemd, partial(to_rrule, start=datetime(2027, 1, 1, tzinfo=UTC))],
)
@pytest.mark.parametrize("instead", ["skip", "next_business_day"])
def test_an_unresolved_calendar_is_not_exported(export, instead):
    with pytest.raises(InvalidCadence):
        export(daily("09:00", calendar=of_germany(instead)))


@pytest.mark.parametrize("unresolved", ["DE BE", "DE;name:x", "D" * 41, "D\u00c9"])
def test_the_name_of_unresolved_holidays_is_one_word(unresolved):
    with pytest.raises(InvalidCadence, match="calendar: its unresolved has invalid characters"):
        Calendar(["mon"], unresolved=unresolved)
