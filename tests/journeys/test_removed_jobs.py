"""What becomes of a job that code declares no more in simulated time."""

import pytest

from duetime import App, daily, every
from duetime.embedded.cloud import MemoryCloud
from duetime.model.action import Status
from tests.journeys.recorded_job import DAY, HOUR, MIDNIGHT, MINUTE, RecordedJob, accounts, at, grid


@pytest.fixture
def printed():
    return RecordedJob(every(minutes=10))


class TestADroppedJob:
    def test_is_disabled_and_keeps_its_history(self, printed):
        printed.cloud.advance(minutes=15)
        assert printed.cloud.deploy(App()) == ("dropped press-print: it is disabled, its history is kept",)
        printed.cloud.advance(hours=1)
        assert printed.begun == at(10)
        assert printed.job.removed_at == MIDNIGHT + 15 * MINUTE
        assert Status.EXECUTED in {item.status for item in printed.cloud.jobs.history(printed.name)}
        assert printed.cloud.memory.job_wakes.wake("schedule", "press-print") is None
        assert accounts(printed.cloud, printed.name, MIDNIGHT) == {"executed": 1, "disabled": 6}

    def test_is_dropped_once(self, printed):
        printed.cloud.deploy(App())
        assert printed.cloud.deploy(App()) == ()

    def test_goes_on_when_it_is_declared_again(self, printed):
        printed.cloud.advance(minutes=15)
        printed.cloud.jobs.set(printed.name, attempts=7)
        printed.cloud.deploy(App())
        printed.cloud.advance(minutes=42)
        (line,) = printed.deploy(every(minutes=10))
        assert line.startswith("revived press-print")
        printed.cloud.advance(minutes=30)
        assert printed.begun == at(10, 60, 70, 80)
        assert (printed.job.tally.executed, printed.job.tuning[""].attempts) == (4, 7)
        assert accounts(printed.cloud, printed.name, MIDNIGHT) == {"executed": 4, "disabled": 4}

    def test_that_is_declared_again_at_once_still_runs_next_time(self):
        printed = RecordedJob(daily("09:00"))
        printed.cloud.advance(hours=1)
        printed.cloud.deploy(App())
        printed.cloud.advance(minutes=1)
        printed.deploy(daily("09:00"))
        printed.cloud.advance(days=3)
        assert printed.begun == grid(MIDNIGHT - 15 * HOUR, DAY, 3)

    def test_lets_what_runs_end(self, printed):
        printed.lasts.append(5 * MINUTE)
        printed.stop_if_asked = lambda _run: printed.cloud.deploy(App())
        printed.cloud.advance(hours=1)
        assert (printed.begun, printed.ended) == (at(10), at(10))
        assert printed.job.running is None

    @pytest.mark.parametrize("requested", ["pause", "trigger"])
    def test_can_be_neither_paused_nor_triggered(self, printed, requested):
        printed.cloud.deploy(App())
        with pytest.raises(
            RuntimeError, match=f"cannot {requested} job press-print: code no longer declares it"
        ):
            getattr(printed.cloud.jobs, requested)(printed.name)

    def test_of_another_worker_is_left_alone(self, printed):
        memory: MemoryCloud = printed.cloud.memory
        memory.steps.reconcile((), worker="reports")
        assert printed.job.removed_at is None
