"""What becomes of a job that code declares no more in simulated time."""

import pytest

from duetime import App, daily, every
from duetime.embedded.cloud import MemoryCloud
from duetime.model.action import Status
from tests.journeys.recorded_job import DAY, HOUR, MIDNIGHT, MINUTE, RecordedJob, accounts, at, grid


@pytest.fixture
def recorded():
    return RecordedJob(every(minutes=10))


class TestADroppedJob:
    def test_is_disabled_and_its_history_remains(self, recorded):
        recorded.cloud.advance(minutes=15)
        assert recorded.cloud.deploy(App()) == ("dropped press-print: it is disabled, its history is kept",)
        recorded.cloud.advance(hours=1)
        assert recorded.begun == at(10)
        assert recorded.job.removed_at == MIDNIGHT + 15 * MINUTE
        assert Status.EXECUTED in {item.status for item in recorded.cloud.jobs.history(recorded.name)}
        assert recorded.cloud.memory.job_wakes.wake("schedule", "press-print") is None
        assert accounts(recorded.cloud, recorded.name, MIDNIGHT) == {"executed": 1, "disabled": 6}

    def test_is_dropped_once(self, recorded):
        recorded.cloud.deploy(App())
        assert recorded.cloud.deploy(App()) == ()

    def test_continues_when_it_is_declared_again(self, recorded):
        recorded.cloud.advance(minutes=15)
        recorded.cloud.jobs.set(recorded.name, attempts=7)
        recorded.cloud.deploy(App())
        recorded.cloud.advance(minutes=42)
        (line,) = recorded.deploy(every(minutes=10))
        assert line.startswith("revived press-print")
        recorded.cloud.advance(minutes=30)
        assert recorded.begun == at(10, 60, 70, 80)
        assert (recorded.job.tally.executed, recorded.job.tuning[""].attempts) == (4, 7)
        assert accounts(recorded.cloud, recorded.name, MIDNIGHT) == {"executed": 4, "disabled": 4}

    def test_that_is_declared_again_at_once_still_runs_next_time(self):
        recorded = RecordedJob(daily("09:00"))
        recorded.cloud.advance(hours=1)
        recorded.cloud.deploy(App())
        recorded.cloud.advance(minutes=1)
        recorded.deploy(daily("09:00"))
        recorded.cloud.advance(days=3)
        assert recorded.begun == grid(MIDNIGHT - 15 * HOUR, DAY, 3)

    def test_lets_started_runs_end(self, recorded):
        recorded.lasts.append(5 * MINUTE)
        recorded.stop_if_cancel_requested = lambda _run: recorded.cloud.deploy(App())
        recorded.cloud.advance(hours=1)
        assert (recorded.begun, recorded.ended) == (at(10), at(10))
        assert recorded.job.running is None

    @pytest.mark.parametrize("requested", ["pause", "trigger"])
    def test_can_be_neither_paused_nor_triggered(self, recorded, requested):
        recorded.cloud.deploy(App())
        with pytest.raises(
            RuntimeError, match=f"cannot {requested} job press-print: code no longer declares it"
        ):
            getattr(recorded.cloud.jobs, requested)(recorded.name)

    def test_of_another_worker_is_left_alone(self, recorded):
        memory: MemoryCloud = recorded.cloud.memory
        memory.steps.reconcile((), worker="reports")
        assert recorded.job.removed_at is None
