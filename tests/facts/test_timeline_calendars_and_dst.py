"""Timelines list times removed by calendars and DST changes, and fold many times into one entry."""

from datetime import UTC, datetime

from duetime.jobs.occurrence_status import OccurrenceStatus
from duetime.model.job import Pause
from tests.facts.job_histories import (
    DAY,
    HOUR,
    MINUTE,
    NINE,
    NOON,
    PARIS_AUTUMN,
    PARIS_SPRING,
    SECOND,
    daily,
    explained_entries,
    only_entry,
    row,
)


class TestCalendars:
    def test_occurrence_excluded_by_calendar_is_listed(self):
        facts = daily("daily 09:00 calendar=exclude:2026-03-26;name:feast")
        found = explained_entries(facts, start=NINE - 2 * DAY, end=NINE)
        assert [(item.at, item.account, item.reason) for item in found] == [
            (NINE - DAY, OccurrenceStatus.CALENDAR, "calendar feast"),
            (NINE, OccurrenceStatus.FORGOTTEN, ""),
        ]

    def test_moved_occurrence_is_listed_at_both_times(self):
        facts = daily("daily 09:00 days=sat calendar=exclude:sat,sun;instead:next_business_day", now=NINE)
        found = explained_entries(facts, start=NINE, end=NINE + 4 * DAY)
        assert [(item.at, item.account, item.note) for item in found] == [
            (NINE + DAY, OccurrenceStatus.CALENDAR, "moved to 2026-03-30"),
            (NINE + 3 * DAY, OccurrenceStatus.UPCOMING, "moved here by its calendar"),
        ]

    def test_time_of_another_cadence_is_nominal_time(self):
        facts = daily("daily 09:00 calendar=exclude:2026-03-27", "every 3h")
        entry = only_entry(facts)
        assert entry.cadences == ("Every_3h",)
        assert entry.note.endswith("is silent: calendar exclude:2026-03-27")

    def test_excluded_days_are_folded_into_one_entry(self):
        facts = daily("every 1m calendar=exclude:sat,sun", now=NINE)
        found = [
            item
            for item in explained_entries(facts, start=NOON, end=NOON + 5 * DAY)
            if item.account is OccurrenceStatus.CALENDAR
        ]
        assert [(item.at, item.ends_at, item.count) for item in found] == [
            (NOON + 12 * HOUR, NOON + 60 * HOUR - MINUTE, 2_880)
        ]


class TestDstChanges:
    def test_shifted_time_has_note(self):
        entry = only_entry(daily("daily 02:30 tz=Europe/Paris"), at=PARIS_SPRING)
        assert entry.note == "moved: 02:30 did not exist, the clocks went forward to 03:00"
        assert (entry.local, entry.tz) == (datetime(2026, 3, 29, 3), "Europe/Paris")

    def test_times_in_dst_gap_are_one_entry(self):
        entry = only_entry(daily("cron 0,30 2 * * * tz=Europe/Paris dst=eventbridge"), at=PARIS_SPRING)
        assert (entry.account, entry.at, entry.count) == (OccurrenceStatus.GAP, PARIS_SPRING, 2)
        assert entry.local == datetime(2026, 3, 29, 2)
        assert entry.note.startswith("skipped: 02:00 to 02:30 (2 times) did not exist")

    def test_dst_gap_and_time_at_its_end_are_both_listed(self):
        facts = daily("cron */30 * * * * tz=Europe/Paris dst=eventbridge")
        found = explained_entries(facts, start=PARIS_SPRING - SECOND, end=PARIS_SPRING, limit=1)
        assert [item.account for item in found] == [OccurrenceStatus.GAP, OccurrenceStatus.UPCOMING]

    def test_repeated_hour_is_folded_into_two_entries(self):
        facts = daily("every 10m tz=Europe/Paris")
        found = explained_entries(facts, start=PARIS_AUTUMN - 3 * HOUR, end=PARIS_AUTUMN + 3 * HOUR)
        assert [(item.count, item.note.partition(":")[0]) for item in found] == [
            (11, ""),
            (6, "doubled"),
            (6, "doubled"),
            (13, ""),
        ]


class TestFolding:
    def test_month_of_paused_seconds_is_one_entry(self):
        end = NOON + 31 * DAY
        facts = daily("every 1s", pauses={"": Pause(since=NOON - 9 * DAY, by="ana")})
        (entry,) = explained_entries(facts, start=NOON, end=end)
        assert (entry.at, entry.until, entry.count, entry.reason) == (NOON + SECOND, end, None, "paused")

    def test_dst_change_splits_folded_entry(self):
        facts = daily("every 1s tz=Europe/Paris", pauses={"": Pause(since=NOON - 9 * DAY, by="ana")})
        found = explained_entries(facts, start=NOON, end=NOON + 31 * DAY)
        assert [(item.at, item.count) for item in found] == [
            (NOON + SECOND, None),
            (PARIS_SPRING, 1),
            (PARIS_SPRING + SECOND, None),
        ]

    def test_rows_are_never_folded(self):
        rows = [row(NOON - n * MINUTE) for n in range(3)]
        assert len(explained_entries(daily("every 1m"), rows, start=NOON - 3 * MINUTE, end=NOON)) == 3

    def test_call_stops_after_maximum_of_looks(self):
        facts = daily("every 1s", "every 2s", pauses={"": Pause(since=NOON - DAY, by="ana")})
        found = explained_entries(facts, start=NOON, end=NOON + DAY, limit=10**9, most_looks=1_000)
        assert found.next_start == found.entries[-1].ends_at == NOON + 1_000 * SECOND

    def test_two_cadences_every_second_are_read_in_pages(self):
        facts = daily("every 1s", "cron * * * * * *", pauses={"": Pause(since=NOON - DAY, by="ana")})
        (entry,) = explained_entries(facts, start=NOON, end=NOON + DAY, most_looks=1_000)
        assert entry.count == 1_000

    def test_year_of_excluded_seconds_is_three_entries(self):
        facts = daily("every 1s calendar=include:2026-12-25", now=NOON)
        found = explained_entries(facts, start=NOON, end=NOON + 365 * DAY)
        assert [(item.account, item.count) for item in found] == [
            (OccurrenceStatus.CALENDAR, None),
            (OccurrenceStatus.UPCOMING, None),
            (OccurrenceStatus.CALENDAR, None),
        ]
        assert found.entries[1].at == datetime(2026, 12, 25, tzinfo=UTC)
        assert found.entries[1].until == datetime(2026, 12, 25, 23, 59, 59, tzinfo=UTC)


def test_note_does_not_depend_on_window_start():
    facts = daily("every 10m tz=Europe/Paris")
    alone = only_entry(facts, at=PARIS_AUTUMN)
    assert alone.note.startswith("doubled")
