"""A pause of a job or of one of its cadences, and what comes of it in simulated time."""

from datetime import timedelta

import pytest

from duetime import RetryPolicy, daily, every
from duetime.errors import InvalidTime, JobConflict, JobNotFound
from duetime.model.action import Status
from tests.journeys.diary import HOUR, MIDNIGHT, MINUTE, SECOND, Diary, accounts, at


@pytest.fixture
def diary():
    return Diary(every(minutes=10))


class TestAPause:
    def test_runs_nothing_new_and_says_who_and_why(self, diary):
        diary.cloud.advance(minutes=35)
        paused = diary.cloud.jobs.pause(diary.name, reason="no paper")
        assert paused.is_paused
        diary.cloud.advance(hours=5)
        assert diary.begun == at(10, 20, 30)
        pause = diary.job.pauses[""]
        assert (pause.by, pause.reason, pause.since) == ("simulation", "no paper", MIDNIGHT + 35 * MINUTE)
        skipped = [row for row in diary.rows if row.status is Status.SKIPPED]
        assert skipped
        assert {item.note for item in skipped} == {"paused by simulation: no paper"}
        assert accounts(diary.cloud, diary.name, MIDNIGHT) == {"executed": 3, "paused": 30}

    def test_costs_no_row_for_what_it_passes_over(self):
        diary = Diary(every(seconds=1))
        diary.cloud.advance(seconds=10)
        diary.cloud.jobs.pause(diary.name)
        diary.cloud.advance(days=30)
        assert len(diary.rows) < 400
        shown = diary.cloud.jobs.explain(diary.name, MIDNIGHT, diary.cloud.now, limit=1_000)
        assert shown.entries[-1].account == "skipped"
        assert shown.entries[-1].ends_at == diary.cloud.now

    def test_that_is_resumed_plans_at_once_and_makes_up_for_nothing(self, diary):
        diary.cloud.advance(minutes=35)
        diary.cloud.jobs.pause(diary.name)
        diary.cloud.advance(hours=2)
        diary.cloud.jobs.resume(diary.name)
        assert diary.at(Status.PENDING)[0] == MIDNIGHT + 160 * MINUTE
        diary.cloud.advance(minutes=30)
        assert diary.begun == at(10, 20, 30, 160, 170, 180)
        assert accounts(diary.cloud, diary.name, MIDNIGHT) == {"executed": 6, "paused": 12}

    def test_of_a_moment_between_two_runs_changes_nothing(self, diary):
        diary.cloud.advance(minutes=31)
        diary.cloud.jobs.pause(diary.name)
        diary.cloud.advance(minutes=5)
        diary.cloud.jobs.resume(diary.name)
        diary.cloud.advance(hours=1)
        assert diary.begun == at(*range(10, 91, 10))

    def test_ends_by_itself_when_it_was_said_until_when(self, diary):
        diary.cloud.advance(minutes=35)
        diary.cloud.jobs.pause(diary.name, until=2 * HOUR)
        diary.cloud.advance(hours=3)
        assert diary.begun == at(10, 20, 30, 160, 170, 180, 190, 200, 210)
        assert diary.job.pauses == {}
        assert accounts(diary.cloud, diary.name, MIDNIGHT) == {"executed": 9, "paused": 12}

    def test_that_ends_by_itself_lets_what_comes_in_the_next_minute_run_within_it(self):
        diary = Diary(every(seconds=10))
        diary.cloud.advance(minutes=10)
        diary.cloud.jobs.pause(diary.name, until=30.5 * MINUTE)
        diary.cloud.advance(hours=1)
        ended_at = MIDNIGHT + 40.5 * MINUTE
        after = [(nominal, ran_at) for _, nominal, ran_at in diary.runs if nominal > MIDNIGHT + 10 * MINUTE]
        assert after[0][0] == ended_at + 10 * SECOND
        assert all(ran_at - nominal <= MINUTE for nominal, ran_at in after)
        assert set(accounts(diary.cloud, diary.name, MIDNIGHT)) == {"executed", "paused"}

    def test_of_one_cadence_leaves_the_others(self):
        diary = Diary(every(minutes=10), every(minutes=15))
        diary.cloud.advance(minutes=31)
        diary.cloud.jobs.pause(diary.name, cadence="Every_15m", reason="no ink")
        diary.cloud.advance(minutes=60)
        assert diary.begun == at(10, 15, 20, 30, 40, 50, 60, 70, 80, 90)
        assert accounts(diary.cloud, diary.name, MIDNIGHT) == {"executed": 10, "paused": 2}
        diary.cloud.jobs.resume(diary.name, cadence="Every_15m")
        diary.cloud.advance(minutes=30)
        assert diary.begun[-4:] == at(100, 105, 110, 120)

    def test_of_one_cadence_leaves_an_instant_that_another_has_too(self):
        diary = Diary(every(minutes=10), every(minutes=20))
        diary.cloud.advance(minutes=1)
        first_by_name = {row.nominal_at: row.cadence for row in diary.rows}
        diary.cloud.jobs.pause(diary.name, cadence=first_by_name[MIDNIGHT + 20 * MINUTE])
        diary.cloud.advance(minutes=40)
        assert MIDNIGHT + 20 * MINUTE in diary.begun

    def test_of_one_cadence_ends_by_itself_while_the_others_go_on(self):
        diary = Diary(every(minutes=1), every(minutes=1, seconds=30))
        diary.cloud.advance(minutes=10)
        diary.cloud.jobs.pause(diary.name, cadence="Every_1m30s", until=30 * MINUTE)
        diary.cloud.advance(hours=2)
        assert diary.job.pauses == {}
        halves = [item for item in diary.begun if item.second == 30]
        assert halves == at(1.5, 4.5, 7.5, *(40.5 + 3 * n for n in range(30)))
        shown = accounts(diary.cloud, diary.name, MIDNIGHT)
        assert set(shown) == {"executed", "paused"}

    def test_lets_what_runs_end_and_its_retry_run(self):
        diary = Diary(every(minutes=10), fails=1, retry=RetryPolicy(backoff=7 * MINUTE, jitter=0))
        diary.cloud.advance(minutes=11)
        diary.cloud.jobs.pause(diary.name)
        diary.cloud.advance(hours=1)
        assert [ran_at for _, _, ran_at in diary.runs] == at(10, 17)
        assert diary.at(Status.EXECUTED) == at(10)

    def test_survives_a_deploy_of_another_schedule(self, diary):
        diary.cloud.jobs.pause(diary.name, reason="no paper")
        diary.deploy(every(minutes=5))
        diary.cloud.advance(hours=1)
        assert diary.runs == []
        assert (diary.job.version, diary.job.pauses[""].reason) == (2, "no paper")
        diary.cloud.jobs.resume(diary.name)
        diary.cloud.advance(minutes=10)
        assert diary.begun == at(65, 70)
        assert accounts(diary.cloud, diary.name, MIDNIGHT) == {"paused": 12, "executed": 2}

    def test_that_ended_by_itself_before_a_deploy_leaves_every_time_accounted_for(self, diary):
        diary.cloud.advance(minutes=5)
        diary.cloud.jobs.pause(diary.name, until=50 * MINUTE)
        diary.outage(HOUR)
        diary.deploy(every(minutes=5))
        diary.cloud.advance(minutes=10)
        assert diary.begun == at(60, 70, 75)
        shown = accounts(diary.cloud, diary.name, MIDNIGHT)
        assert shown == {"missed": 2, "paused": 3, "executed": 3}  # two were planned before the pause

    def test_of_a_paused_job_keeps_its_begin_and_takes_the_new_reason(self, diary):
        diary.cloud.jobs.pause(diary.name, reason="no paper")
        diary.cloud.advance(minutes=5)
        diary.cloud.jobs.pause(diary.name, reason="no ink", until=HOUR)
        pause = diary.job.pauses[""]
        assert (pause.since, pause.reason) == (MIDNIGHT, "no ink")
        assert pause.until == MIDNIGHT + 65 * MINUTE

    def test_of_a_cadence_that_a_deploy_has_removed_can_still_be_ended(self):
        diary = Diary(every(minutes=10), daily("09:00"))
        diary.cloud.jobs.pause(diary.name, cadence="Daily_09_00")
        diary.deploy(every(minutes=10))
        assert diary.cloud.jobs.resume(diary.name, cadence="Daily_09_00").pauses == {}

    @pytest.mark.parametrize("until", [-MINUTE, timedelta(0), MIDNIGHT])
    def test_that_would_have_ended_already_is_refused(self, diary, until):
        with pytest.raises(InvalidTime, match="has passed"):
            diary.cloud.jobs.pause(diary.name, until=until)

    def test_of_what_there_is_not_is_refused(self, diary):
        with pytest.raises(JobNotFound):
            diary.cloud.jobs.pause("no-such-job")
        with pytest.raises(JobNotFound):
            diary.cloud.jobs.pause("No job at all#")
        with pytest.raises(
            JobConflict, match=r"cannot pause job press-print: it has no cadence 'Daily_09_00'; .* Every_10m"
        ):
            diary.cloud.jobs.pause(diary.name, cadence="Daily_09_00")
        with pytest.raises(JobConflict, match="cannot resume job press-print: it is not paused"):
            diary.cloud.jobs.resume(diary.name)
