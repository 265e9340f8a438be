"""What becomes of a job that code declares no more in simulated time."""

import pytest

from duetime import App, daily, every
from duetime.embedded.cloud import MemoryCloud
from duetime.model.action import Status
from tests.journeys.diary import DAY, HOUR, MIDNIGHT, MINUTE, Diary, accounts, at, grid


@pytest.fixture
def diary():
    return Diary(every(minutes=10))


class TestADroppedJob:
    def test_is_disabled_and_keeps_its_history(self, diary):
        diary.cloud.advance(minutes=15)
        assert diary.cloud.deploy(App()) == ("dropped press-print: it is disabled, its history is kept",)
        diary.cloud.advance(hours=1)
        assert diary.begun == at(10)
        assert diary.job.removed_at == MIDNIGHT + 15 * MINUTE
        assert Status.EXECUTED in {item.status for item in diary.cloud.jobs.history(diary.name)}
        assert diary.cloud._cloud.job_wakes.wake("schedule", "press-print") is None
        assert accounts(diary.cloud, diary.name, MIDNIGHT) == {"executed": 1, "disabled": 6}

    def test_is_dropped_once(self, diary):
        diary.cloud.deploy(App())
        assert diary.cloud.deploy(App()) == ()

    def test_goes_on_when_it_is_declared_again(self, diary):
        diary.cloud.advance(minutes=15)
        diary.cloud.jobs.set(diary.name, attempts=7)
        diary.cloud.deploy(App())
        diary.cloud.advance(minutes=42)
        (line,) = diary.deploy(every(minutes=10))
        assert line.startswith("revived press-print")
        diary.cloud.advance(minutes=30)
        assert diary.begun == at(10, 60, 70, 80)
        assert (diary.job.tally.executed, diary.job.tuning[""].attempts) == (4, 7)
        assert accounts(diary.cloud, diary.name, MIDNIGHT) == {"executed": 4, "disabled": 4}

    def test_that_is_declared_again_at_once_still_runs_next_time(self):
        diary = Diary(daily("09:00"))
        diary.cloud.advance(hours=1)
        diary.cloud.deploy(App())
        diary.cloud.advance(minutes=1)
        diary.deploy(daily("09:00"))
        diary.cloud.advance(days=3)
        assert diary.begun == grid(MIDNIGHT - 15 * HOUR, DAY, 3)

    def test_lets_what_runs_end(self, diary):
        diary.lasts.append(5 * MINUTE)
        diary.stop_if_asked = lambda _run: diary.cloud.deploy(App())
        diary.cloud.advance(hours=1)
        assert (diary.begun, diary.ended) == (at(10), at(10))
        assert diary.job.running is None

    @pytest.mark.parametrize("requested", ["pause", "trigger"])
    def test_can_be_neither_paused_nor_triggered(self, diary, requested):
        diary.cloud.deploy(App())
        with pytest.raises(
            RuntimeError, match=f"cannot {requested} job press-print: code no longer declares it"
        ):
            getattr(diary.cloud.jobs, requested)(diary.name)

    def test_of_another_worker_is_left_alone(self, diary):
        memory: MemoryCloud = diary.cloud._cloud
        memory.steps.reconcile((), worker="reports")
        assert diary.job.removed_at is None
