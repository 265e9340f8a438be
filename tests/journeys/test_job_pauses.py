"""A pause of a job or of one of its cadences, and what comes of it in simulated time."""

from datetime import timedelta

import pytest

from duetime import RetryPolicy, daily, every
from duetime.errors import InvalidArgument, NotFound, StateConflict
from duetime.model.action import Status
from tests.journeys.recorded_job import HOUR, MIDNIGHT, MINUTE, SECOND, RecordedJob, accounts, at


@pytest.fixture
def recorded():
    return RecordedJob(every(minutes=10))


def reasons(recorded):
    """The reason of each paused time of the first hours, by its minute."""
    explained = recorded.cloud.jobs.explain(recorded.name, MIDNIGHT, MIDNIGHT + 65 * MINUTE)
    return {
        (item.at - MIDNIGHT) // MINUTE: item.note.rpartition(": ")[2]
        for item in explained
        if item.account == "paused" or item.reason == "paused"
    }


class TestAPause:
    def test_runs_nothing_new_and_records_the_operator_and_the_reason(self, recorded):
        recorded.cloud.advance(minutes=35)
        paused = recorded.cloud.jobs.pause(recorded.name, reason="no paper")
        assert paused.is_paused
        recorded.cloud.advance(hours=5)
        assert recorded.begun == at(10, 20, 30)
        pause = recorded.job.pauses[""]
        assert (pause.by, pause.reason, pause.since) == ("simulation", "no paper", MIDNIGHT + 35 * MINUTE)
        skipped = [row for row in recorded.rows if row.status is Status.SKIPPED]
        assert skipped
        assert {item.note for item in skipped} == {"paused by simulation: no paper"}
        assert accounts(recorded.cloud, recorded.name, MIDNIGHT) == {"executed": 3, "paused": 30}

    def test_writes_no_row_for_paused_runs(self):
        recorded = RecordedJob(every(seconds=1))
        recorded.cloud.advance(seconds=10)
        recorded.cloud.jobs.pause(recorded.name)
        recorded.cloud.advance(days=3)
        assert len(recorded.rows) < 200
        shown = recorded.cloud.jobs.explain(recorded.name, MIDNIGHT, recorded.cloud.now, limit=1_000)
        assert shown.entries[-1].account == "skipped"
        assert shown.entries[-1].ends_at == recorded.cloud.now

    def test_that_is_resumed_plans_at_once_and_catches_nothing_up(self, recorded):
        recorded.cloud.advance(minutes=35)
        recorded.cloud.jobs.pause(recorded.name)
        recorded.cloud.advance(hours=2)
        recorded.cloud.jobs.resume(recorded.name)
        assert recorded.at(Status.PENDING)[0] == MIDNIGHT + 160 * MINUTE
        recorded.cloud.advance(minutes=30)
        assert recorded.begun == at(10, 20, 30, 160, 170, 180)
        assert accounts(recorded.cloud, recorded.name, MIDNIGHT) == {"executed": 6, "paused": 12}

    def test_of_a_moment_between_two_runs_changes_nothing(self, recorded):
        recorded.cloud.advance(minutes=31)
        recorded.cloud.jobs.pause(recorded.name)
        recorded.cloud.advance(minutes=5)
        recorded.cloud.jobs.resume(recorded.name)
        recorded.cloud.advance(hours=1)
        assert recorded.begun == at(*range(10, 91, 10))

    def test_ends_by_itself_at_its_given_end(self, recorded):
        recorded.cloud.advance(minutes=35)
        recorded.cloud.jobs.pause(recorded.name, until=2 * HOUR)
        recorded.cloud.advance(hours=3)
        assert recorded.begun == at(10, 20, 30, 160, 170, 180, 190, 200, 210)
        assert recorded.job.pauses == {}
        assert accounts(recorded.cloud, recorded.name, MIDNIGHT) == {"executed": 9, "paused": 12}

    def test_that_ends_by_itself_lets_runs_of_the_next_minute_run_within_it(self):
        recorded = RecordedJob(every(seconds=10))
        recorded.cloud.advance(minutes=10)
        recorded.cloud.jobs.pause(recorded.name, until=30.5 * MINUTE)
        recorded.cloud.advance(hours=1)
        ended_at = MIDNIGHT + 40.5 * MINUTE
        after = [
            (nominal, ran_at) for _, nominal, ran_at in recorded.runs if nominal > MIDNIGHT + 10 * MINUTE
        ]
        assert after[0][0] == ended_at + 10 * SECOND
        assert all(ran_at - nominal <= MINUTE for nominal, ran_at in after)
        assert set(accounts(recorded.cloud, recorded.name, MIDNIGHT)) == {"executed", "paused"}

    def test_of_one_cadence_does_not_affect_the_others(self):
        recorded = RecordedJob(every(minutes=10), every(minutes=15))
        recorded.cloud.advance(minutes=31)
        recorded.cloud.jobs.pause(recorded.name, cadence="Every_15m", reason="no ink")
        recorded.cloud.advance(minutes=60)
        assert recorded.begun == at(10, 15, 20, 30, 40, 50, 60, 70, 80, 90)
        assert accounts(recorded.cloud, recorded.name, MIDNIGHT) == {"executed": 10, "paused": 2}
        recorded.cloud.jobs.resume(recorded.name, cadence="Every_15m")
        recorded.cloud.advance(minutes=30)
        assert recorded.begun[-4:] == at(100, 105, 110, 120)

    def test_of_one_cadence_still_runs_times_shared_with_another(self):
        recorded = RecordedJob(every(minutes=10), every(minutes=20))
        recorded.cloud.advance(minutes=1)
        first_by_name = {row.nominal_at: row.cadence for row in recorded.rows}
        recorded.cloud.jobs.pause(recorded.name, cadence=first_by_name[MIDNIGHT + 20 * MINUTE])
        recorded.cloud.advance(minutes=40)
        assert MIDNIGHT + 20 * MINUTE in recorded.begun

    def test_of_one_cadence_ends_by_itself_while_the_others_go_on(self):
        recorded = RecordedJob(every(minutes=1), every(minutes=1, seconds=30))
        recorded.cloud.advance(minutes=10)
        recorded.cloud.jobs.pause(recorded.name, cadence="Every_1m30s", until=30 * MINUTE)
        recorded.cloud.advance(hours=2)
        assert recorded.job.pauses == {}
        halves = [item for item in recorded.begun if item.second == 30]
        assert halves == at(1.5, 4.5, 7.5, *(40.5 + 3 * n for n in range(30)))
        shown = accounts(recorded.cloud, recorded.name, MIDNIGHT)
        assert set(shown) == {"executed", "paused"}

    def test_lets_a_started_run_and_its_retry_end(self):
        recorded = RecordedJob(every(minutes=10), fails=1, retry=RetryPolicy(backoff=7 * MINUTE, jitter=0))
        recorded.cloud.advance(minutes=11)
        recorded.cloud.jobs.pause(recorded.name)
        recorded.cloud.advance(hours=1)
        assert [ran_at for _, _, ran_at in recorded.runs] == at(10, 17)
        assert recorded.at(Status.EXECUTED) == at(10)

    def test_survives_a_deploy_of_another_schedule(self, recorded):
        recorded.cloud.jobs.pause(recorded.name, reason="no paper")
        recorded.deploy(every(minutes=5))
        recorded.cloud.advance(hours=1)
        assert recorded.runs == []
        assert (recorded.job.version, recorded.job.pauses[""].reason) == (2, "no paper")
        recorded.cloud.jobs.resume(recorded.name)
        recorded.cloud.advance(minutes=10)
        assert recorded.begun == at(65, 70)
        assert accounts(recorded.cloud, recorded.name, MIDNIGHT) == {"paused": 12, "executed": 2}

    def test_that_ended_by_itself_before_a_deploy_leaves_every_time_accounted_for(self, recorded):
        recorded.cloud.advance(minutes=5)
        recorded.cloud.jobs.pause(recorded.name, until=50 * MINUTE)
        recorded.outage(HOUR)
        recorded.deploy(every(minutes=5))
        recorded.cloud.advance(minutes=10)
        assert recorded.begun == at(60, 70, 75)
        shown = accounts(recorded.cloud, recorded.name, MIDNIGHT)
        assert shown == {"missed": 2, "paused": 3, "executed": 3}  # two were planned before the pause

    def test_of_a_paused_job_leaves_the_first_one_with_its_reason_and_its_end(self, recorded):
        recorded.cloud.jobs.pause(recorded.name, reason="no paper", until=20 * MINUTE)
        recorded.cloud.advance(minutes=5)
        recorded.cloud.jobs.pause(recorded.name, reason="no ink", until=HOUR)
        pause = recorded.job.pauses[""]
        assert (pause.since, pause.until) == (MIDNIGHT, MIDNIGHT + 65 * MINUTE)
        assert [(part.reason, part.until) for part in pause.parts] == [
            ("no paper", MIDNIGHT + 20 * MINUTE),
            ("no ink", MIDNIGHT + 65 * MINUTE),
        ]
        during = reasons(recorded)
        recorded.cloud.advance(hours=2)
        assert recorded.job.pauses == {}
        assert {minute: why for minute, why in reasons(recorded).items() if minute <= 65} == during
        assert during[20] == "no paper"
        assert during[30] == "no ink"
        assert min(recorded.begun) > MIDNIGHT + 65 * MINUTE
        events = recorded.cloud.events("job.paused")
        assert [event["detail"]["job"]["reason"] for event in events] == ["no paper", "no ink"]

    def test_that_is_over_keeps_its_reason_if_another_begins_before_its_maintenance(self, recorded):
        recorded.cloud.jobs.pause(recorded.name, reason="no paper", until=21 * MINUTE)
        recorded.cloud.advance(minutes=21)
        recorded.cloud.jobs.pause(recorded.name, reason="no ink")
        assert [recorded.job.pauses[""].reason, recorded.job.pauses[""].parts] == ["no ink", ()]
        assert reasons(recorded)[20] == "no paper"
        assert reasons(recorded)[40] == "no ink"

    def test_that_ends_first_leaves_the_other_one(self, recorded):
        recorded.cloud.jobs.pause(recorded.name, reason="no paper")
        recorded.cloud.advance(minutes=5)
        recorded.cloud.jobs.pause(recorded.name, reason="no ink", until=10 * MINUTE)
        recorded.cloud.advance(hours=2)
        assert (recorded.job.pauses[""].reason, recorded.job.pauses[""].until) == ("no paper", None)
        assert recorded.begun == []
        recorded.cloud.jobs.resume(recorded.name)
        assert recorded.job.pauses == {}

    def test_of_a_cadence_that_a_deploy_has_removed_can_still_be_ended(self):
        recorded = RecordedJob(every(minutes=10), daily("09:00"))
        recorded.cloud.jobs.pause(recorded.name, cadence="Daily_09_00")
        recorded.deploy(every(minutes=10))
        assert recorded.cloud.jobs.resume(recorded.name, cadence="Daily_09_00").pauses == {}

    @pytest.mark.parametrize("until", [-MINUTE, timedelta(0), MIDNIGHT])
    def test_with_an_end_in_the_past_is_rejected(self, recorded, until):
        with pytest.raises(InvalidArgument, match="has passed"):
            recorded.cloud.jobs.pause(recorded.name, until=until)

    def test_of_a_missing_subject_is_rejected(self, recorded):
        with pytest.raises(NotFound, match="no job"):
            recorded.cloud.jobs.pause("no-such-job")
        with pytest.raises(NotFound, match="no job"):
            recorded.cloud.jobs.pause("No job at all#")
        with pytest.raises(
            StateConflict,
            match=r"cannot pause job press-print: it has no cadence 'Daily_09_00'; .* Every_10m",
        ):
            recorded.cloud.jobs.pause(recorded.name, cadence="Daily_09_00")
        with pytest.raises(StateConflict, match="cannot resume job press-print: it is not paused"):
            recorded.cloud.jobs.resume(recorded.name)
