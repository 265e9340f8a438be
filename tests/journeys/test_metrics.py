"""What the steps count and measure, each where it happens in simulated time."""

from datetime import timedelta

import pytest

from duetime import App, Fatal, Payload, Run, every
from duetime.memory.keyed_items import MemoryItems
from duetime.model.action import Status
from duetime.model.change import Change
from duetime.model.metric import Metric, Unit
from duetime.ports.undelivered import UndeliveredHandlerPorts, UndeliveredStore
from duetime.settings import Settings
from duetime.telemetry.transition_log import transition_of
from duetime.testing import RecordedMetrics, SimulatedCloud, TurnedClock, WorkerDied
from duetime.undelivered.failed_inputs import Unreadable
from duetime.undelivered.undelivered_handler import UndeliveredHandler
from tests.journeys.conftest import NOON, Charge, Flaky, Stubborn
from tests.journeys.recorded_job import DAY, MIDNIGHT, MINUTE, SECOND, RecordedJob, accounts

BOOKED = {"Put": {"TableName": "ledger", "Item": {"id": {"S": "o-1"}}}}


class Ping(Payload):
    pass


class Killed(WorkerDied):
    """Stands for a Lambda that was ended in the middle of a run."""


def counted(cloud, **whose):
    """Return the value of every counter that was published."""
    totals = {metric.value: cloud.metrics.total(metric, **whose) for metric in Metric if metric.is_counter}
    return {name: total for name, total in totals.items() if total}


def test_an_action_is_scheduled_and_executed_with_how_late_it_began_and_how_long_it_took(cloud):
    cloud.scheduler.schedule(Charge(), at=timedelta(hours=5))
    cloud.advance(hours=6)
    assert counted(cloud) == {"scheduled": 1, "executed": 1}
    for measured in (Metric.LATENESS, Metric.RUN_TIME):
        assert cloud.metrics.values(measured) == (0,)


def test_metrics_have_the_dimensions_type_and_tenant(cloud):
    cloud.scheduler.schedule(Charge(), at=timedelta(minutes=1))
    cloud.scheduler_for("globex").schedule(Stubborn(says="fatal"), at=timedelta(minutes=1))
    cloud.advance(minutes=2)
    assert counted(cloud, type="charge") == {"scheduled": 1, "executed": 1}
    assert counted(cloud, tenant_id="globex") == {"scheduled": 1, "failed": 1}


def test_each_attempt_but_the_last_counts_as_retried(cloud):
    cloud.scheduler.schedule(Flaky(fails=2), at=timedelta(minutes=1))
    cloud.advance(hours=3)
    assert counted(cloud) == {"scheduled": 1, "retried": 2, "executed": 1}
    assert cloud.metrics.values(Metric.LATENESS) == (0, 0, 0)


def test_a_failed_action_that_is_redriven_is_counted_for_each_of_its_ends(cloud):
    action = cloud.scheduler.schedule(Stubborn(says="fatal"), at=timedelta(minutes=1))
    cloud.advance(minutes=2)
    cloud.scheduler.redrive(action.id)
    cloud.advance(minutes=2)
    assert counted(cloud) == {"scheduled": 1, "failed": 2, "redriven": 1}


def test_a_reschedule_and_a_cancel_are_counted_and_no_run(cloud):
    action = cloud.scheduler.schedule(Charge(), at=timedelta(hours=1))
    cloud.advance(minutes=1)
    cloud.scheduler.reschedule(action.id, timedelta(hours=2))
    cloud.advance(minutes=1)
    cloud.scheduler.cancel(action.id)
    cloud.advance(hours=5)
    assert counted(cloud) == {"scheduled": 1, "rescheduled": 1, "cancelled": 1}


def test_a_run_that_stops_on_request_is_cancelled_once():
    app = App()

    @app.action
    def ping(payload: Ping, run: Run) -> None:
        cloud.scheduler.cancel(run.id)
        run.stop.set()
        run.raise_if_cancelled()

    cloud = SimulatedCloud(app, start=NOON)
    cloud.scheduler.schedule(Ping(), at=timedelta(minutes=1))
    cloud.advance(minutes=2)
    assert counted(cloud) == {"scheduled": 1, "cancelled": 1}


def test_a_run_that_commits_by_itself_is_executed_once():
    app = App()

    @app.action
    def ping(payload: Ping, run: Run) -> None:
        run.commit([BOOKED])
        raise Fatal("too late to matter")

    cloud = SimulatedCloud(app, start=NOON, on_commit=lambda _entries: None)
    cloud.scheduler.schedule(Ping(), at=timedelta(minutes=1))
    cloud.advance(minutes=2)
    assert counted(cloud) == {"scheduled": 1, "executed": 1}


def test_a_run_taken_over_from_a_dead_worker_is_recovered_and_late():
    app, deaths = App(), [Killed()]

    @app.action
    def ping(payload: Ping, run: Run) -> None:
        if deaths:
            raise deaths.pop()

    cloud = SimulatedCloud(app, start=NOON)
    cloud.scheduler.schedule(Ping(), at=timedelta(0))
    with pytest.raises(Killed):
        cloud.advance(minutes=15)
    cloud.advance(minutes=15)
    assert counted(cloud) == {"scheduled": 1, "recovered": 1, "executed": 1}
    [late] = cloud.metrics.values(Metric.LATENESS)
    assert late >= 300_000


def test_an_occurrence_that_is_skipped_is_counted():
    recorded = RecordedJob(every(minutes=10))
    recorded.cloud.advance(minutes=11)
    before = recorded.cloud.metrics.total(Metric.SCHEDULED)
    recorded.cloud.jobs.pause(recorded.name)
    recorded.cloud.advance(minutes=1)
    assert recorded.cloud.metrics.total(Metric.SCHEDULED) == before
    recorded.cloud.advance(minutes=30)
    assert recorded.cloud.metrics.total(Metric.SKIPPED) == len(recorded.skipped()) > 0
    assert recorded.cloud.metrics.total(Metric.MISSED) == 0


def test_a_span_of_unplanned_nominal_times_is_missed_once():
    recorded = RecordedJob(every(minutes=10))
    recorded.cloud.advance(minutes=11)
    recorded.outage(DAY)
    recorded.cloud.advance(minutes=30)
    late = [reason for _, reason in recorded.skipped() if reason == "missed"]
    assert accounts(recorded.cloud, recorded.name, MIDNIGHT)["missed"] > 100
    assert recorded.cloud.metrics.total(Metric.MISSED) == 1 + len(late)


class TestThePasses:
    @pytest.fixture
    def lost(self, cloud):
        """An action whose wake was lost."""
        cloud.scheduler.schedule(Charge(), at=timedelta(seconds=30))
        cloud.memory.changes.clear()
        return cloud

    def test_measure_the_age_of_the_oldest_overdue_row(self, lost):
        lost.advance(minutes=9)
        ages = lost.metrics.values(Metric.OLDEST_DUE_AGE)
        assert 300 <= max(ages) <= 360
        assert ages[-1] in {0, max(ages)}

    def test_of_deep_sweeps_count_the_messages(self, lost):
        lost.memory.sweep_at = NOON + timedelta(days=9)
        lost.advance(hours=6, minutes=1)
        assert lost.metrics.total(Metric.CATCH_UP_SENT) == 1
        assert max(lost.metrics.values(Metric.OLDEST_DUE_AGE)) == pytest.approx(6 * 3_600 - 30)
        assert lost.metrics.total(Metric.EXECUTED) == 1

    def test_take_no_action_with_a_concurrency_key_for_late_since_it_may_wait_for_a_slot(self, cloud):
        cloud.scheduler.schedule(Charge(), at=timedelta(seconds=30), concurrency_key="customer:42")
        cloud.memory.changes.clear()
        cloud.advance(minutes=9)
        assert cloud.metrics.values(Metric.OLDEST_DUE_AGE) == ()
        assert cloud.metrics.total(Metric.EXECUTED) == 1

    def test_of_a_disabled_deployment_report_nothing(self, shop):
        cloud = SimulatedCloud(shop.app, start=NOON, settings=Settings(enabled=False))
        cloud.scheduler.schedule(Charge(), at=timedelta(seconds=30))
        cloud.advance(hours=7)
        assert cloud.metrics.values(Metric.OLDEST_DUE_AGE) == ()


def test_stored_undelivered_inputs_are_counted():
    metrics, undelivered, clock = RecordedMetrics(), UndeliveredStore(MemoryItems()), TurnedClock(NOON)
    ports = UndeliveredHandlerPorts(None, None, None, None, undelivered, None, None)
    handler = UndeliveredHandler(ports, None, None, None, clock=clock, settings=Settings(), meter=metrics)
    handler(Unreadable(source="due-default", reason="no JSON", body="][", at=NOON, number="1"))
    assert metrics.total(Metric.UNDELIVERED) == 1


def test_a_change_that_is_no_transition_counts_as_nothing(cloud):
    cloud.scheduler.schedule(Flaky(fails=1), at=timedelta(seconds=1))
    cloud.advance(seconds=30)
    [retried] = cloud.actions(Status.PENDING)
    assert transition_of(Change(retried, retried)) is None
    assert transition_of(Change(None, retried)) is None  # its first time was seen before
    assert transition_of(Change(retried, None)) is None


def test_an_occurrence_beyond_the_grace_is_missed_and_skipped():
    recorded = RecordedJob(every(hours=1))
    recorded.cloud.advance(minutes=59)
    recorded.outage(11 * MINUTE + SECOND)
    recorded.cloud.advance(minutes=1)
    assert [reason for _, reason in recorded.skipped()] == ["missed"]
    assert recorded.cloud.metrics.values(Metric.MISSED, type=recorded.name) == (1,)
    assert recorded.cloud.metrics.values(Metric.SKIPPED, type=recorded.name) == (1,)


def test_every_metric_has_a_unit_that_cloudwatch_knows():
    assert {metric.unit for metric in Metric} <= set(Unit)
    assert [metric.value for metric in Metric if not metric.is_counter] == [
        "lateness",
        "canary_lateness",
        "run_time",
        "oldest_due_age",
    ]
