"""What became of each nominal time of a job: by its row, or by what is known where there is none."""

import pytest

from duetime import ids
from duetime.jobs.occurrence_status import OccurrenceStatus
from duetime.model.action import Attempt, SkipReason, Status
from duetime.model.job import JobSpan, Pause, SpanKind
from tests.facts.accounts import (
    DAY,
    HOUR,
    MINUTE,
    NAME,
    NINE,
    NOON,
    SECOND,
    daily,
    known,
    only,
    row,
    shown,
    version,
)


class TestARow:
    @pytest.mark.parametrize("status", [item for item in Status if item is not Status.SKIPPED])
    def test_says_what_became_of_its_time(self, status):
        entry = only(daily(), row(NINE, status))
        assert (entry.at, entry.account, entry.action_id) == (NINE, status, row(NINE).id)
        assert (entry.cadences, entry.version, entry.count) == (("Daily_09_00",), 1, 1)

    def test_says_why_it_was_skipped(self):
        entry = only(daily(), row(NINE, Status.SKIPPED, skip_reason=SkipReason.OVERLAP, note="x was running"))
        assert (entry.account, entry.reason, entry.note) == (
            OccurrenceStatus.SKIPPED,
            "overlap",
            "x was running",
        )

    def test_that_was_skipped_as_missed_is_missed(self):
        entry = only(daily(), row(NINE, Status.SKIPPED, skip_reason=SkipReason.MISSED))
        assert (entry.account, entry.reason) == (OccurrenceStatus.MISSED, "missed")

    def test_wins_over_a_span_and_a_pause(self):
        span = JobSpan(kind=SpanKind.MISSED, start=NINE - HOUR, end=NINE)
        pauses = {"": Pause(since=NINE - HOUR, by="ana")}
        assert only(daily(spans=[span], pauses=pauses), row(NINE)).account is OccurrenceStatus.EXECUTED

    def test_that_was_made_up_for_tells_when_it_ran(self):
        ran = Attempt(queued_at=NOON, started_at=NOON, instance="i", finished_at=NOON)
        entry = only(daily(), row(NINE, catches_up=True, attempts=(ran,)))
        assert entry.account is OccurrenceStatus.EXECUTED
        assert entry.note == "missed at first, and made up for: it ran at 2026-03-27T12:00:00Z"

    def test_that_a_pause_holds_is_skipped_as_its_claim_would_find(self):
        later = NINE + DAY
        paused = daily(pauses={"": Pause(since=NOON, by="ana", reason="audit")})
        entry = only(paused, row(later, Status.PENDING), at=later)
        assert (entry.account, entry.reason, entry.note) == (
            OccurrenceStatus.SKIPPED,
            "paused",
            "paused by ana: audit",
        )
        assert entry.action_id == row(later).id

    def test_that_waits_for_its_retry_runs_in_spite_of_a_pause(self):
        paused = daily(pauses={"": Pause(since=NINE - HOUR, by="ana", reason="audit")})
        entry = only(paused, row(NINE, Status.PENDING, attempt=1))
        assert (entry.account, entry.note) == (OccurrenceStatus.PENDING, "")

    def test_is_pending_once_the_pause_over_it_has_ended_by_itself(self):
        over = Pause(since=NINE - HOUR, by="ana", reason="audit", until=NOON - MINUTE)
        entry = only(daily(pauses={"": over}), row(NINE, Status.PENDING))
        assert entry.account is OccurrenceStatus.PENDING

    def test_is_pending_where_only_one_of_its_cadences_is_paused(self):
        later = NINE + DAY
        pauses = {"Daily_09_00": Pause(since=NOON, by="ana", reason="audit")}
        paused = daily("daily 09:00", "every 1h", pauses=pauses)
        assert only(paused, row(later, Status.PENDING), at=later).account is OccurrenceStatus.PENDING

    def test_of_a_time_that_its_cadence_does_not_have_is_told_too(self):
        stray = NINE + MINUTE
        assert only(daily(), row(stray, cadence="Daily_09_00"), at=stray).action_id == row(stray).id

    def test_that_was_retired_by_a_drop_is_disabled(self):
        span = JobSpan(kind=SpanKind.DISABLED, start=NINE - HOUR, end=NINE)
        retired = row(NINE, Status.SKIPPED, skip_reason=SkipReason.RETIRED)
        assert only(daily(spans=[span]), retired).reason == "disabled"

    def test_that_somebody_triggered_has_no_nominal_time(self):
        manual = row(NINE, id=ids.manual_run_id(NAME, 1, NINE))
        assert only(daily(), manual).action_id is None

    def test_that_a_later_version_retired_is_left_out(self):
        old, new = version(1, ["daily 09:00"], NINE - DAY, NINE), version(2, ["daily 21:00"], NINE)
        retired = row(NINE + DAY, Status.SKIPPED, skip_reason=SkipReason.RETIRED)
        found = shown(known(old, new), [row(NINE), retired], start=NINE - HOUR, end=NINE + DAY)
        assert [(item.at, item.version) for item in found] == [(NINE, 1), (NINE + 12 * HOUR, 2)]


class TestWithoutARow:
    def test_a_span_tells_why(self):
        span = JobSpan(kind=SpanKind.PAUSED, start=NINE - HOUR, end=NINE, by="ana", reason="audit")
        entry = only(daily(spans=[span]))
        assert (entry.account, entry.reason, entry.note) == (
            OccurrenceStatus.SKIPPED,
            "paused",
            "paused by ana: audit",
        )

    def test_an_outage_is_missed(self):
        entry = only(daily(spans=[JobSpan(kind=SpanKind.MISSED, start=NINE - HOUR, end=NINE)]))
        assert (entry.account, entry.reason) == (OccurrenceStatus.MISSED, "missed")

    def test_that_somebody_paused_counts_more_than_an_outage(self):
        spans = [
            JobSpan(kind=SpanKind.MISSED, start=NINE - HOUR, end=NINE),
            JobSpan(kind=SpanKind.PAUSED, start=NINE - DAY, end=NINE + DAY, cadence="Daily_09_00"),
        ]
        assert only(daily(spans=spans)).reason == "paused"

    def test_a_time_at_the_start_of_a_span_is_not_in_it(self):
        span = JobSpan(kind=SpanKind.PAUSED, start=NINE, end=NOON)
        assert only(daily(spans=[span])).account is OccurrenceStatus.FORGOTTEN

    @pytest.mark.parametrize(
        ("pause", "reason"),
        [
            (Pause(since=NINE - SECOND, by="ana"), "paused"),
            (Pause(since=NINE, by="ana"), ""),
            (Pause(since=NINE - HOUR, by="ana", until=NINE), "paused"),
            (Pause(since=NINE - HOUR, by="ana", until=NINE - SECOND), "missed"),
        ],
    )
    def test_a_pause_that_lasts_explains_what_lies_in_it(self, pause, reason):
        assert only(daily(pauses={"": pause})).reason == reason

    def test_a_job_that_is_dropped_is_disabled_from_then_on(self):
        dropped = daily(removed_at=NINE - HOUR)
        assert only(dropped).reason == only(dropped, at=NINE + DAY).reason == "disabled"
        assert only(dropped, at=NINE - DAY).reason == ""

    def test_a_paused_cadence_leaves_the_times_that_it_shares_with_another(self):
        texts, pauses = ("daily 09:00", "every 3h"), {"Daily_09_00": Pause(since=NINE - DAY, by="ana")}
        shared = only(daily(*texts, pauses=pauses), at=NINE + DAY)
        assert shared.account is OccurrenceStatus.UPCOMING
        assert shared.cadences == ("Daily_09_00", "Every_3h")

    def test_before_the_cursor_its_row_is_forgotten(self):
        assert only(daily()).account is OccurrenceStatus.FORGOTTEN

    def test_beyond_the_cursor_it_is_pending_until_the_grace_is_over(self):
        behind = {"cursor": NINE - DAY}
        assert only(daily(**behind, now=NINE + 10 * MINUTE)).account is OccurrenceStatus.PENDING
        assert only(daily(**behind, now=NINE + 10 * MINUTE + SECOND)).account is OccurrenceStatus.MISSED

    def test_ahead_it_is_upcoming_or_paused(self):
        ahead, pause = NINE + DAY, Pause(since=NOON, by="ana", until=NINE + DAY)
        assert only(daily(), at=ahead).account is OccurrenceStatus.UPCOMING
        assert only(daily(pauses={"": pause}), at=ahead).reason == "paused"
        assert only(daily(pauses={"": pause}), at=ahead + DAY).account is OccurrenceStatus.UPCOMING


class TestVersions:
    def test_a_time_at_the_very_end_of_a_version_is_the_old_ones(self):
        old, new = version(1, ["daily 09:00"], NINE - DAY, NINE), version(2, ["daily 09:00"], NINE)
        found = shown(known(old, new), start=NINE - 2 * DAY, end=NINE + DAY)
        assert [(item.at, item.version) for item in found] == [(NINE, 1), (NINE + DAY, 2)]


class TestRuns:
    def test_of_a_job_without_times_each_run_is_an_entry(self):
        manual = row(NINE, id=ids.manual_run_id(NAME, 1, NINE), created_by="ana")
        event = row(NINE, id=ids.event_run_id(NAME, NINE + SECOND, "e-1"), created_by="bus")
        facts = daily("manual", "on_event orders OrderPlaced")
        found = shown(facts, [event, manual], start=NINE - HOUR, end=NOON)
        assert [(item.action_id, item.note) for item in found] == [
            (manual.id, "triggered by ana"),
            (event.id, ""),
        ]

    def test_of_a_job_that_runs_itself_each_pass_is_one(self):
        passes = [row(NINE + n * MINUTE) for n in range(3)]
        facts = known(version(1, ["every 1m"], NINE - DAY, self_scheduled=True))
        found = shown(facts, passes, start=NINE, end=NOON)
        assert [item.action_id for item in found] == [item.id for item in passes[1:]]
