"""The history of a job, its tally, and the list of jobs in simulated time."""

from datetime import timedelta

import pytest

from duetime import RetryPolicy, every, on_event
from duetime.errors import InvalidArgument, NotFound
from duetime.model.action import Status
from tests.journeys.recorded_job import DAY, MIDNIGHT, MINUTE, RecordedJob


@pytest.fixture
def recorded():
    return RecordedJob(every(minutes=10))


def history(recorded, **options):
    """All runs of the job that meet what is said, page by page."""
    seen, cursor = [], None
    while True:
        page = recorded.cloud.jobs.history(recorded.name, cursor=cursor, **options)
        seen += page
        cursor = page.cursor
        if cursor is None:
            return seen


class TestTheHistory:
    def test_lists_the_runs_newest_first_in_pages(self, recorded):
        recorded.cloud.advance(hours=5)
        seen, cursor = [], None
        while True:
            page = recorded.cloud.jobs.history(recorded.name, limit=7, cursor=cursor)
            seen += [item.nominal_at for item in page]
            cursor = page.cursor
            if cursor is None:
                break
        assert seen == sorted((row.nominal_at for row in recorded.rows), reverse=True)

    def test_is_filtered_by_status(self, recorded):
        recorded.cloud.advance(minutes=35)
        assert {item.status for item in history(recorded, status="executed")} == {Status.EXECUTED}
        assert len(history(recorded, status={Status.EXECUTED, "pending"})) == len(history(recorded))
        assert history(recorded, status="failed") == []

    def test_is_filtered_by_nominal_time_from_after_its_start_up_to_its_end(self, recorded):
        recorded.cloud.advance(hours=1)
        start, end = MIDNIGHT + 10 * MINUTE, MIDNIGHT + 30 * MINUTE
        shown = [item.nominal_at for item in history(recorded, nominal_after=start, nominal_until=end)]
        assert shown == [end, MIDNIGHT + 20 * MINUTE]
        recent = history(recorded, nominal_after=-25 * MINUTE, nominal_until=timedelta(0))
        assert [item.nominal_at for item in recent] == [MIDNIGHT + number * MINUTE for number in (60, 50, 40)]

    def test_that_is_filtered_has_short_pages_that_lead_on_to_all_that_is_meant(self, recorded):
        recorded.cloud.advance(hours=2)
        first = recorded.cloud.jobs.history(recorded.name, status="failed", limit=3)
        assert (len(first), first.cursor is None) == (0, False)
        start, end = MIDNIGHT + 40 * MINUTE, MIDNIGHT + 60 * MINUTE
        shown = [
            run.nominal_at
            for run in history(recorded, nominal_after=start, nominal_until=end, status="executed", limit=1)
        ]
        assert shown == [end, MIDNIGHT + 50 * MINUTE]

    def test_begins_at_its_end_without_reading_the_runs_after_it(self, recorded):
        recorded.cloud.advance(hours=2)
        end = MIDNIGHT + 20 * MINUTE
        first = recorded.cloud.jobs.history(recorded.name, nominal_until=end, limit=1)
        assert [run.nominal_at for run in first] == [end]
        between = recorded.cloud.jobs.history(recorded.name, nominal_until=end + MINUTE, limit=1)
        assert [run.nominal_at for run in between] == [end]

    @pytest.mark.parametrize(
        ("options", "refusal"),
        [
            ({"status": "done"}, InvalidArgument),
            ({"status": []}, InvalidArgument),
            ({"nominal_after": MIDNIGHT, "nominal_until": MIDNIGHT}, InvalidArgument),
            ({"nominal_after": MIDNIGHT.replace(tzinfo=None)}, InvalidArgument),
        ],
    )
    def test_with_invalid_values_is_rejected(self, recorded, options, refusal):
        with pytest.raises(refusal):
            recorded.cloud.jobs.history(recorded.name, **options)

    def test_of_event_runs_and_of_triggered_ones_is_one_list(self):
        recorded = RecordedJob(on_event("kb", "Uploaded"), every(minutes=10), overlap="allow")
        recorded.cloud.advance(minutes=11)
        recorded.cloud.send_event("kb", "Uploaded", {})
        recorded.cloud.advance(minutes=1)
        recorded.cloud.jobs.trigger(recorded.name)
        recorded.cloud.advance(minutes=1)
        seen = [
            item.trigger
            for item in recorded.cloud.jobs.history(recorded.name)
            if item.status is Status.EXECUTED
        ]
        assert seen == ["manual", "event", "cadence"]

    def test_of_a_missing_job_is_rejected(self, recorded):
        with pytest.raises(NotFound, match="no job"):
            recorded.cloud.jobs.history("no-such-job")


def test_jobs_are_listed_by_name_in_pages_codes_before_ones_own(recorded):
    names, cursor = [], None
    while True:
        page = recorded.cloud.jobs.list(limit=1, cursor=cursor)
        names += [item.name for item in page]
        cursor = page.cursor
        if cursor is None:
            break
    assert names == ["duetime-catch-up", "duetime-recount", "duetime-sweep", "press-print"]


def test_the_statistics_of_a_day_include_the_last_run():
    recorded = RecordedJob(every(hours=1), fails=2, retry=RetryPolicy(attempts=1))
    recorded.cloud.advance(hours=2)
    assert recorded.job.tally.consecutive_failures == 2
    recorded.cloud.advance(DAY)
    tally = recorded.job.tally
    assert (tally.executed, tally.failed, tally.consecutive_failures) == (24, 2, 0)
    assert (tally.last_status, tally.last_started_at) == ("executed", recorded.cloud.now)
