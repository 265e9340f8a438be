"""What the account tells of times that a calendar or a change of the clocks took, and how it folds many into one."""

from datetime import UTC, datetime

from duetime.jobs import explain
from duetime.jobs.occurrence_status import OccurrenceStatus
from duetime.model.job import Pause
from tests.facts.accounts import (
    DAY,
    HOUR,
    MINUTE,
    NINE,
    NOON,
    PARIS_AUTUMN,
    PARIS_SPRING,
    SECOND,
    daily,
    only,
    row,
    shown,
)


class TestCalendars:
    def test_what_a_calendar_silences_is_told(self):
        facts = daily("daily 09:00 calendar=exclude:2026-03-26;name:feast")
        found = shown(facts, start=NINE - 2 * DAY, end=NINE)
        assert [(item.at, item.account, item.reason) for item in found] == [
            (NINE - DAY, OccurrenceStatus.CALENDAR, "calendar feast"),
            (NINE, OccurrenceStatus.FORGOTTEN, ""),
        ]

    def test_what_it_moves_is_told_at_both_places(self):
        facts = daily("daily 09:00 days=sat calendar=exclude:sat,sun;instead:next_business_day", now=NINE)
        found = shown(facts, start=NINE, end=NINE + 4 * DAY)
        assert [(item.at, item.account, item.note) for item in found] == [
            (NINE + DAY, OccurrenceStatus.CALENDAR, "moved to 2026-03-30"),
            (NINE + 3 * DAY, OccurrenceStatus.UPCOMING, "moved here by its calendar"),
        ]

    def test_a_time_that_another_cadence_keeps_is_a_nominal_one(self):
        facts = daily("daily 09:00 calendar=exclude:2026-03-27", "every 3h")
        entry = only(facts)
        assert entry.cadences == ("Every_3h",)
        assert entry.note.endswith("is silent: calendar exclude:2026-03-27")

    def test_silent_days_are_one_entry(self):
        facts = daily("every 1m calendar=exclude:sat,sun", now=NINE)
        found = [
            item
            for item in shown(facts, start=NOON, end=NOON + 5 * DAY)
            if item.account is OccurrenceStatus.CALENDAR
        ]
        assert [(item.at, item.ends_at, item.count) for item in found] == [
            (NOON + 12 * HOUR, NOON + 60 * HOUR - MINUTE, 2_880)
        ]


class TestChangesOfTheClocks:
    def test_a_time_that_was_moved_says_so(self):
        entry = only(daily("daily 02:30 tz=Europe/Paris"), at=PARIS_SPRING)
        assert entry.note == "moved: 02:30 did not exist, the clocks went forward to 03:00"
        assert (entry.local, entry.tz) == (datetime(2026, 3, 29, 3), "Europe/Paris")

    def test_what_a_gap_swallowed_is_an_entry(self):
        entry = only(daily("cron 0,30 2 * * * tz=Europe/Paris dst=eventbridge"), at=PARIS_SPRING)
        assert (entry.account, entry.at, entry.count) == (OccurrenceStatus.GAP, PARIS_SPRING, 2)
        assert entry.local == datetime(2026, 3, 29, 2)
        assert entry.note.startswith("skipped: 02:00 to 02:30 (2 times) did not exist")

    def test_a_gap_and_a_time_at_its_end_are_both_told(self):
        facts = daily("cron */30 * * * * tz=Europe/Paris dst=eventbridge")
        found = shown(facts, start=PARIS_SPRING - SECOND, end=PARIS_SPRING, limit=1)
        assert [item.account for item in found] == [OccurrenceStatus.GAP, OccurrenceStatus.UPCOMING]

    def test_both_passes_of_an_hour_are_told_apart_and_folded(self):
        facts = daily("every 10m tz=Europe/Paris")
        found = shown(facts, start=PARIS_AUTUMN - 3 * HOUR, end=PARIS_AUTUMN + 3 * HOUR)
        assert [(item.count, item.note.partition(":")[0]) for item in found] == [
            (11, ""),
            (6, "doubled"),
            (6, "doubled"),
            (13, ""),
        ]


class TestFolds:
    def test_a_month_of_paused_seconds_is_one_entry(self):
        end = NOON + 31 * DAY
        facts = daily("every 1s", pauses={"": Pause(since=NOON - 9 * DAY, by="ana")})
        (entry,) = shown(facts, start=NOON, end=end)
        assert (entry.at, entry.until, entry.count, entry.reason) == (NOON + SECOND, end, None, "paused")

    def test_a_change_of_the_clocks_parts_it(self):
        facts = daily("every 1s tz=Europe/Paris", pauses={"": Pause(since=NOON - 9 * DAY, by="ana")})
        found = shown(facts, start=NOON, end=NOON + 31 * DAY)
        assert [(item.at, item.count) for item in found] == [
            (NOON + SECOND, None),
            (PARIS_SPRING, 1),
            (PARIS_SPRING + SECOND, None),
        ]

    def test_rows_are_never_folded(self):
        rows = [row(NOON - n * MINUTE) for n in range(3)]
        assert len(shown(daily("every 1m"), rows, start=NOON - 3 * MINUTE, end=NOON)) == 3

    def test_so_many_looks_are_enough_for_one_call(self, monkeypatch):
        monkeypatch.setattr(explain, "MOST_LOOKS", 1_000)
        facts = daily("every 1s", "every 2s", pauses={"": Pause(since=NOON - DAY, by="ana")})
        found = shown(facts, start=NOON, end=NOON + DAY, limit=10**9)
        assert found.next_start == found.entries[-1].ends_at == NOON + 1_000 * SECOND

    def test_two_cadences_at_each_second_are_walked_through_page_by_page(self, monkeypatch):
        monkeypatch.setattr(explain, "MOST_LOOKS", 1_000)
        facts = daily("every 1s", "cron * * * * * *", pauses={"": Pause(since=NOON - DAY, by="ana")})
        (entry,) = shown(facts, start=NOON, end=NOON + DAY)
        assert entry.count == 1_000

    def test_a_year_of_silent_seconds_is_a_few_entries(self):
        facts = daily("every 1s calendar=include:2026-12-25", now=NOON)
        found = shown(facts, start=NOON, end=NOON + 365 * DAY)
        assert [(item.account, item.count) for item in found] == [
            (OccurrenceStatus.CALENDAR, None),
            (OccurrenceStatus.UPCOMING, None),
            (OccurrenceStatus.CALENDAR, None),
        ]
        assert found.entries[1].at == datetime(2026, 12, 25, tzinfo=UTC)
        assert found.entries[1].until == datetime(2026, 12, 25, 23, 59, 59, tzinfo=UTC)


def test_a_note_does_not_depend_on_where_a_window_begins():
    facts = daily("every 10m tz=Europe/Paris")
    alone = only(facts, at=PARIS_AUTUMN)
    assert alone.note.startswith("doubled")
