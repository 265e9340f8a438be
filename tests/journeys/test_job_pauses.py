"""A pause of a job or of one of its cadences, and what comes of it in simulated time."""

from datetime import timedelta

import pytest

from duetime import RetryPolicy, daily, every
from duetime.errors import InvalidTime, JobConflict, JobNotFound
from duetime.model.action import Status
from tests.journeys.recorded_job import HOUR, MIDNIGHT, MINUTE, SECOND, RecordedJob, accounts, at


@pytest.fixture
def printed():
    return RecordedJob(every(minutes=10))


class TestAPause:
    def test_runs_nothing_new_and_records_the_operator_and_the_reason(self, printed):
        printed.cloud.advance(minutes=35)
        paused = printed.cloud.jobs.pause(printed.name, reason="no paper")
        assert paused.is_paused
        printed.cloud.advance(hours=5)
        assert printed.begun == at(10, 20, 30)
        pause = printed.job.pauses[""]
        assert (pause.by, pause.reason, pause.since) == ("simulation", "no paper", MIDNIGHT + 35 * MINUTE)
        skipped = [row for row in printed.rows if row.status is Status.SKIPPED]
        assert skipped
        assert {item.note for item in skipped} == {"paused by simulation: no paper"}
        assert accounts(printed.cloud, printed.name, MIDNIGHT) == {"executed": 3, "paused": 30}

    def test_costs_no_row_for_what_it_passes_over(self):
        printed = RecordedJob(every(seconds=1))
        printed.cloud.advance(seconds=10)
        printed.cloud.jobs.pause(printed.name)
        printed.cloud.advance(days=30)
        assert len(printed.rows) < 400
        shown = printed.cloud.jobs.explain(printed.name, MIDNIGHT, printed.cloud.now, limit=1_000)
        assert shown.entries[-1].account == "skipped"
        assert shown.entries[-1].ends_at == printed.cloud.now

    def test_that_is_resumed_plans_at_once_and_makes_up_for_nothing(self, printed):
        printed.cloud.advance(minutes=35)
        printed.cloud.jobs.pause(printed.name)
        printed.cloud.advance(hours=2)
        printed.cloud.jobs.resume(printed.name)
        assert printed.at(Status.PENDING)[0] == MIDNIGHT + 160 * MINUTE
        printed.cloud.advance(minutes=30)
        assert printed.begun == at(10, 20, 30, 160, 170, 180)
        assert accounts(printed.cloud, printed.name, MIDNIGHT) == {"executed": 6, "paused": 12}

    def test_of_a_moment_between_two_runs_changes_nothing(self, printed):
        printed.cloud.advance(minutes=31)
        printed.cloud.jobs.pause(printed.name)
        printed.cloud.advance(minutes=5)
        printed.cloud.jobs.resume(printed.name)
        printed.cloud.advance(hours=1)
        assert printed.begun == at(*range(10, 91, 10))

    def test_ends_by_itself_at_its_given_end(self, printed):
        printed.cloud.advance(minutes=35)
        printed.cloud.jobs.pause(printed.name, until=2 * HOUR)
        printed.cloud.advance(hours=3)
        assert printed.begun == at(10, 20, 30, 160, 170, 180, 190, 200, 210)
        assert printed.job.pauses == {}
        assert accounts(printed.cloud, printed.name, MIDNIGHT) == {"executed": 9, "paused": 12}

    def test_that_ends_by_itself_lets_what_comes_in_the_next_minute_run_within_it(self):
        printed = RecordedJob(every(seconds=10))
        printed.cloud.advance(minutes=10)
        printed.cloud.jobs.pause(printed.name, until=30.5 * MINUTE)
        printed.cloud.advance(hours=1)
        ended_at = MIDNIGHT + 40.5 * MINUTE
        after = [(nominal, ran_at) for _, nominal, ran_at in printed.runs if nominal > MIDNIGHT + 10 * MINUTE]
        assert after[0][0] == ended_at + 10 * SECOND
        assert all(ran_at - nominal <= MINUTE for nominal, ran_at in after)
        assert set(accounts(printed.cloud, printed.name, MIDNIGHT)) == {"executed", "paused"}

    def test_of_one_cadence_leaves_the_others(self):
        printed = RecordedJob(every(minutes=10), every(minutes=15))
        printed.cloud.advance(minutes=31)
        printed.cloud.jobs.pause(printed.name, cadence="Every_15m", reason="no ink")
        printed.cloud.advance(minutes=60)
        assert printed.begun == at(10, 15, 20, 30, 40, 50, 60, 70, 80, 90)
        assert accounts(printed.cloud, printed.name, MIDNIGHT) == {"executed": 10, "paused": 2}
        printed.cloud.jobs.resume(printed.name, cadence="Every_15m")
        printed.cloud.advance(minutes=30)
        assert printed.begun[-4:] == at(100, 105, 110, 120)

    def test_of_one_cadence_leaves_an_instant_that_another_has_too(self):
        printed = RecordedJob(every(minutes=10), every(minutes=20))
        printed.cloud.advance(minutes=1)
        first_by_name = {row.nominal_at: row.cadence for row in printed.rows}
        printed.cloud.jobs.pause(printed.name, cadence=first_by_name[MIDNIGHT + 20 * MINUTE])
        printed.cloud.advance(minutes=40)
        assert MIDNIGHT + 20 * MINUTE in printed.begun

    def test_of_one_cadence_ends_by_itself_while_the_others_go_on(self):
        printed = RecordedJob(every(minutes=1), every(minutes=1, seconds=30))
        printed.cloud.advance(minutes=10)
        printed.cloud.jobs.pause(printed.name, cadence="Every_1m30s", until=30 * MINUTE)
        printed.cloud.advance(hours=2)
        assert printed.job.pauses == {}
        halves = [item for item in printed.begun if item.second == 30]
        assert halves == at(1.5, 4.5, 7.5, *(40.5 + 3 * n for n in range(30)))
        shown = accounts(printed.cloud, printed.name, MIDNIGHT)
        assert set(shown) == {"executed", "paused"}

    def test_lets_what_runs_end_and_its_retry_run(self):
        printed = RecordedJob(every(minutes=10), fails=1, retry=RetryPolicy(backoff=7 * MINUTE, jitter=0))
        printed.cloud.advance(minutes=11)
        printed.cloud.jobs.pause(printed.name)
        printed.cloud.advance(hours=1)
        assert [ran_at for _, _, ran_at in printed.runs] == at(10, 17)
        assert printed.at(Status.EXECUTED) == at(10)

    def test_survives_a_deploy_of_another_schedule(self, printed):
        printed.cloud.jobs.pause(printed.name, reason="no paper")
        printed.deploy(every(minutes=5))
        printed.cloud.advance(hours=1)
        assert printed.runs == []
        assert (printed.job.version, printed.job.pauses[""].reason) == (2, "no paper")
        printed.cloud.jobs.resume(printed.name)
        printed.cloud.advance(minutes=10)
        assert printed.begun == at(65, 70)
        assert accounts(printed.cloud, printed.name, MIDNIGHT) == {"paused": 12, "executed": 2}

    def test_that_ended_by_itself_before_a_deploy_leaves_every_time_accounted_for(self, printed):
        printed.cloud.advance(minutes=5)
        printed.cloud.jobs.pause(printed.name, until=50 * MINUTE)
        printed.outage(HOUR)
        printed.deploy(every(minutes=5))
        printed.cloud.advance(minutes=10)
        assert printed.begun == at(60, 70, 75)
        shown = accounts(printed.cloud, printed.name, MIDNIGHT)
        assert shown == {"missed": 2, "paused": 3, "executed": 3}  # two were planned before the pause

    def test_of_a_paused_job_keeps_its_begin_and_takes_the_new_reason(self, printed):
        printed.cloud.jobs.pause(printed.name, reason="no paper")
        printed.cloud.advance(minutes=5)
        printed.cloud.jobs.pause(printed.name, reason="no ink", until=HOUR)
        pause = printed.job.pauses[""]
        assert (pause.since, pause.reason) == (MIDNIGHT, "no ink")
        assert pause.until == MIDNIGHT + 65 * MINUTE

    def test_of_a_cadence_that_a_deploy_has_removed_can_still_be_ended(self):
        printed = RecordedJob(every(minutes=10), daily("09:00"))
        printed.cloud.jobs.pause(printed.name, cadence="Daily_09_00")
        printed.deploy(every(minutes=10))
        assert printed.cloud.jobs.resume(printed.name, cadence="Daily_09_00").pauses == {}

    @pytest.mark.parametrize("until", [-MINUTE, timedelta(0), MIDNIGHT])
    def test_that_would_have_ended_already_is_refused(self, printed, until):
        with pytest.raises(InvalidTime, match="has passed"):
            printed.cloud.jobs.pause(printed.name, until=until)

    def test_of_what_there_is_not_is_refused(self, printed):
        with pytest.raises(JobNotFound):
            printed.cloud.jobs.pause("no-such-job")
        with pytest.raises(JobNotFound):
            printed.cloud.jobs.pause("No job at all#")
        with pytest.raises(
            JobConflict, match=r"cannot pause job press-print: it has no cadence 'Daily_09_00'; .* Every_10m"
        ):
            printed.cloud.jobs.pause(printed.name, cadence="Daily_09_00")
        with pytest.raises(JobConflict, match="cannot resume job press-print: it is not paused"):
            printed.cloud.jobs.resume(printed.name)
