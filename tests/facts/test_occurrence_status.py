"""The status of each nominal time of a job, with and without a row."""

import pytest

from duetime import ids
from duetime.jobs.occurrence_status import OccurrenceStatus
from duetime.model.action import Attempt, SkipReason, Status
from duetime.model.job import JobSpan, Pause, SpanKind
from tests.facts.job_histories import (
    DAY,
    HOUR,
    MINUTE,
    NAME,
    NINE,
    NOON,
    SECOND,
    daily,
    explained_entries,
    history_of,
    only_entry,
    row,
    version,
)


class TestOccurrenceWithRow:
    @pytest.mark.parametrize("status", [item for item in Status if item is not Status.SKIPPED])
    def test_row_status_is_occurrence_status(self, status):
        entry = only_entry(daily(), row(NINE, status))
        assert (entry.at, entry.account, entry.action_id) == (NINE, status, row(NINE).id)
        assert (entry.cadences, entry.version, entry.count) == (("Daily_09_00",), 1, 1)

    def test_skipped_row_has_reason_and_note(self):
        entry = only_entry(
            daily(), row(NINE, Status.SKIPPED, skip_reason=SkipReason.OVERLAP, note="x was running")
        )
        assert (entry.account, entry.reason, entry.note) == (
            OccurrenceStatus.SKIPPED,
            "overlap",
            "x was running",
        )

    def test_row_skipped_as_missed_is_missed(self):
        entry = only_entry(daily(), row(NINE, Status.SKIPPED, skip_reason=SkipReason.MISSED))
        assert (entry.account, entry.reason) == (OccurrenceStatus.MISSED, "missed")

    def test_row_overrides_span_and_pause(self):
        span = JobSpan(kind=SpanKind.MISSED, start=NINE - HOUR, end=NINE)
        pauses = {"": Pause(since=NINE - HOUR, by="ana")}
        assert only_entry(daily(spans=[span], pauses=pauses), row(NINE)).account is OccurrenceStatus.EXECUTED

    def test_caught_up_row_has_note_with_start_time(self):
        ran = Attempt(queued_at=NOON, started_at=NOON, instance="i", finished_at=NOON)
        entry = only_entry(daily(), row(NINE, catches_up=True, attempts=(ran,)))
        assert entry.account is OccurrenceStatus.EXECUTED
        assert entry.note == "missed at first; it ran later, at 2026-03-27T12:00:00Z"

    def test_pending_row_under_pause_is_skipped(self):
        later = NINE + DAY
        paused = daily(pauses={"": Pause(since=NOON, by="ana", reason="audit")})
        entry = only_entry(paused, row(later, Status.PENDING), at=later)
        assert (entry.account, entry.reason, entry.note) == (
            OccurrenceStatus.SKIPPED,
            "paused",
            "paused by ana: audit",
        )
        assert entry.action_id == row(later).id

    def test_row_waiting_for_retry_ignores_pause(self):
        paused = daily(pauses={"": Pause(since=NINE - HOUR, by="ana", reason="audit")})
        entry = only_entry(paused, row(NINE, Status.PENDING, attempt=1))
        assert (entry.account, entry.note) == (OccurrenceStatus.PENDING, "")

    def test_row_is_pending_after_pause_expired(self):
        over = Pause(since=NINE - HOUR, by="ana", reason="audit", until=NOON - MINUTE)
        entry = only_entry(daily(pauses={"": over}), row(NINE, Status.PENDING))
        assert entry.account is OccurrenceStatus.PENDING

    def test_row_is_pending_if_only_one_of_its_cadences_is_paused(self):
        later = NINE + DAY
        pauses = {"Daily_09_00": Pause(since=NOON, by="ana", reason="audit")}
        paused = daily("daily 09:00", "every 1h", pauses=pauses)
        assert only_entry(paused, row(later, Status.PENDING), at=later).account is OccurrenceStatus.PENDING

    def test_row_outside_of_cadence_is_listed(self):
        stray = NINE + MINUTE
        assert only_entry(daily(), row(stray, cadence="Daily_09_00"), at=stray).action_id == row(stray).id

    def test_row_retired_by_job_removal_is_disabled(self):
        span = JobSpan(kind=SpanKind.DISABLED, start=NINE - HOUR, end=NINE)
        retired = row(NINE, Status.SKIPPED, skip_reason=SkipReason.RETIRED)
        assert only_entry(daily(spans=[span]), retired).reason == "disabled"

    def test_manual_run_has_no_nominal_time(self):
        manual = row(NINE, id=ids.manual_run_id(NAME, 1, NINE))
        assert only_entry(daily(), manual).action_id is None

    def test_row_retired_by_later_version_is_omitted(self):
        old, new = version(1, ["daily 09:00"], NINE - DAY, NINE), version(2, ["daily 21:00"], NINE)
        retired = row(NINE + DAY, Status.SKIPPED, skip_reason=SkipReason.RETIRED)
        found = explained_entries(
            history_of(old, new), [row(NINE), retired], start=NINE - HOUR, end=NINE + DAY
        )
        assert [(item.at, item.version) for item in found] == [(NINE, 1), (NINE + 12 * HOUR, 2)]


class TestOccurrenceWithoutRow:
    def test_span_has_reason_and_note(self):
        span = JobSpan(kind=SpanKind.PAUSED, start=NINE - HOUR, end=NINE, by="ana", reason="audit")
        entry = only_entry(daily(spans=[span]))
        assert (entry.account, entry.reason, entry.note) == (
            OccurrenceStatus.SKIPPED,
            "paused",
            "paused by ana: audit",
        )

    def test_occurrence_in_outage_is_missed(self):
        entry = only_entry(daily(spans=[JobSpan(kind=SpanKind.MISSED, start=NINE - HOUR, end=NINE)]))
        assert (entry.account, entry.reason) == (OccurrenceStatus.MISSED, "missed")

    def test_pause_overrides_outage(self):
        spans = [
            JobSpan(kind=SpanKind.MISSED, start=NINE - HOUR, end=NINE),
            JobSpan(kind=SpanKind.PAUSED, start=NINE - DAY, end=NINE + DAY, cadence="Daily_09_00"),
        ]
        assert only_entry(daily(spans=spans)).reason == "paused"

    def test_span_excludes_its_start(self):
        span = JobSpan(kind=SpanKind.PAUSED, start=NINE, end=NOON)
        assert only_entry(daily(spans=[span])).account is OccurrenceStatus.FORGOTTEN

    @pytest.mark.parametrize(
        ("pause", "reason"),
        [
            (Pause(since=NINE - SECOND, by="ana"), "paused"),
            (Pause(since=NINE, by="ana"), ""),
            (Pause(since=NINE - HOUR, by="ana", until=NINE), "paused"),
            (Pause(since=NINE - HOUR, by="ana", until=NINE - SECOND), "missed"),
        ],
    )
    def test_pause_covers_occurrences_between_its_bounds(self, pause, reason):
        assert only_entry(daily(pauses={"": pause})).reason == reason

    def test_removed_job_is_disabled_after_removal(self):
        dropped = daily(removed_at=NINE - HOUR)
        assert only_entry(dropped).reason == only_entry(dropped, at=NINE + DAY).reason == "disabled"
        assert only_entry(dropped, at=NINE - DAY).reason == ""

    def test_paused_cadence_keeps_times_of_other_cadences(self):
        texts, pauses = ("daily 09:00", "every 3h"), {"Daily_09_00": Pause(since=NINE - DAY, by="ana")}
        shared = only_entry(daily(*texts, pauses=pauses), at=NINE + DAY)
        assert shared.account is OccurrenceStatus.UPCOMING
        assert shared.cadences == ("Daily_09_00", "Every_3h")

    def test_occurrence_before_cursor_is_forgotten(self):
        assert only_entry(daily()).account is OccurrenceStatus.FORGOTTEN

    def test_occurrence_after_cursor_is_pending_until_grace_ends(self):
        behind = {"cursor": NINE - DAY}
        assert only_entry(daily(**behind, now=NINE + 10 * MINUTE)).account is OccurrenceStatus.PENDING
        assert only_entry(daily(**behind, now=NINE + 10 * MINUTE + SECOND)).account is OccurrenceStatus.MISSED

    def test_future_occurrence_is_upcoming_or_paused(self):
        ahead, pause = NINE + DAY, Pause(since=NOON, by="ana", until=NINE + DAY)
        assert only_entry(daily(), at=ahead).account is OccurrenceStatus.UPCOMING
        assert only_entry(daily(pauses={"": pause}), at=ahead).reason == "paused"
        assert only_entry(daily(pauses={"": pause}), at=ahead + DAY).account is OccurrenceStatus.UPCOMING


class TestVersions:
    def test_occurrence_at_version_end_belongs_to_old_version(self):
        old, new = version(1, ["daily 09:00"], NINE - DAY, NINE), version(2, ["daily 09:00"], NINE)
        found = explained_entries(history_of(old, new), start=NINE - 2 * DAY, end=NINE + DAY)
        assert [(item.at, item.version) for item in found] == [(NINE, 1), (NINE + DAY, 2)]


class TestRuns:
    def test_job_without_times_lists_every_run(self):
        manual = row(NINE, id=ids.manual_run_id(NAME, 1, NINE), created_by="ana")
        event = row(NINE, id=ids.event_run_id(NAME, NINE + SECOND, "e-1"), created_by="bus")
        facts = daily("manual", "on_event orders OrderPlaced")
        found = explained_entries(facts, [event, manual], start=NINE - HOUR, end=NOON)
        assert [(item.action_id, item.note) for item in found] == [
            (manual.id, "triggered by ana"),
            (event.id, ""),
        ]

    def test_self_scheduled_job_lists_every_pass(self):
        passes = [row(NINE + n * MINUTE) for n in range(3)]
        facts = history_of(version(1, ["every 1m"], NINE - DAY, self_scheduled=True))
        found = explained_entries(facts, passes, start=NINE, end=NOON)
        assert [item.action_id for item in found] == [item.id for item in passes[1:]]
