"""What happens when something is lost, late, doubled or dead in simulated time."""

import threading
from datetime import timedelta

import pytest

from duetime import App, Payload, Run, Status
from duetime.errors import BackendUnavailable
from duetime.settings import Made, Settings
from duetime.testing import SimulatedCloud, WorkerDied
from tests.hooked import switch
from tests.journeys.conftest import NOON, Charge
from tests.journeys.late_settles import settle_cancelled
from tests.journeys.routes import publish_route


class Killed(WorkerDied):
    """Stands for a Lambda that was ended in the middle of a run."""


class Ping(Payload):
    pass


@pytest.fixture
def memory(cloud):
    """The memory cloud below the simulation: for tests that break something."""
    return cloud.memory


def test_a_lost_stream_record_is_repaired_by_the_sweep_within_minutes(shop, cloud, memory):
    cloud.scheduler.schedule(Charge(), at=timedelta(seconds=30))
    memory.changes.clear()
    cloud.advance(minutes=7)
    (_, started_at), *others = shop.charged
    assert timedelta(minutes=5) <= started_at - NOON <= timedelta(minutes=7)
    assert others == []


def test_a_lost_message_is_resent_once_by_the_sweep(shop, cloud, memory):
    cloud.scheduler.schedule(Charge(), at=timedelta(seconds=30))
    cloud.advance(seconds=1)
    for receipt in memory.queues.messages:
        memory.queues.delete(receipt)
    cloud.advance(hours=12)
    assert len(shop.charged) == 1


def test_a_message_lost_before_a_long_sweep_outage_is_found_after_it(shop, cloud, memory):
    cloud.scheduler.schedule(Charge(), at=timedelta(seconds=30))
    memory.changes.clear()
    memory.sweep_at = NOON + timedelta(hours=2)
    cloud.advance(hours=2, minutes=2)
    assert len(shop.charged) == 1


def test_the_catch_up_finds_rows_that_every_sweep_missed(shop, cloud, memory):
    cloud.scheduler.schedule(Charge(), at=timedelta(seconds=30))
    memory.changes.clear()
    memory.sweep_at = NOON + timedelta(days=9)
    cloud.advance(hours=6, minutes=1)
    assert len(shop.charged) == 1


def test_doubled_wakes_run_an_action_once(shop, cloud, memory):
    cloud.scheduler.schedule(Charge(), at=timedelta(seconds=30))
    memory.changes.extend(list(memory.changes) * 4)
    cloud.advance(hours=12)
    assert len(shop.charged) == 1


def test_a_stale_wake_of_a_rescheduled_action_changes_nothing(shop, cloud, memory):
    action = cloud.scheduler.schedule(Charge(), at=timedelta(minutes=10))
    cloud.advance(seconds=1)
    cloud.scheduler.reschedule(action.id, timedelta(hours=5))
    cloud.advance(minutes=30)
    assert shop.charged == []
    assert cloud.scheduler.get(action.id).status is Status.PENDING


def raising(error):
    def fail(*_given):
        raise error

    return fail


def test_throttled_timers_delay_no_far_action(shop, cloud, memory):
    memory.timers.set = raising(BackendUnavailable("EventBridge Scheduler", "ThrottlingException"))
    cloud.scheduler.schedule(Charge(order="far"), at=timedelta(hours=5))
    cloud.scheduler.schedule(Charge(order="near"), at=timedelta(minutes=5))
    cloud.advance(hours=6)
    assert shop.charged == [("near", NOON + timedelta(minutes=5)), ("far", NOON + timedelta(hours=5))]


def test_a_queue_that_cannot_hide_the_message_of_a_claim_costs_no_run(shop):
    settings = Settings(made=Made(queue_visibility=timedelta(hours=1)))
    cloud = SimulatedCloud(shop.app, start=NOON, settings=settings)
    cloud.memory.queues.extend = raising(BackendUnavailable("SQS", "RequestThrottled"))
    action = cloud.scheduler.schedule(Charge(), at=timedelta(minutes=5))
    cloud.advance(minutes=6)
    ran = cloud.scheduler.get(action.id)
    assert (ran.status, ran.fence, ran.recoveries) == (Status.EXECUTED, 1, 0)


def test_with_the_switch_off_nothing_runs_and_on_again_everything_does_once(shop):
    cloud = SimulatedCloud(shop.app, start=NOON, settings=Settings(enabled=False))
    for minutes in (1, 5, 600):
        cloud.scheduler.schedule(Charge(order=f"o-{minutes}"), at=timedelta(minutes=minutes))
    cloud.advance(hours=24)
    assert shop.charged == []
    assert len(cloud.scheduler.list()) == 3
    switch(cloud.memory, shop.app, on=True)
    cloud.advance(minutes=20)
    assert sorted(order for order, _ in shop.charged) == ["o-1", "o-5", "o-600"]


@pytest.fixture
def mortal():
    """An app whose first runs are killed, as many as `deaths` says."""

    class Mortal:
        def __init__(self):
            self.app, self.deaths, self.runs = App(), 1, []
            self.app.action(self._ping())

        def _ping(self):
            def ping(payload: Ping, run: Run) -> None:
                self.runs.append((run.attempt, run.fence, run.now()))
                if len(self.runs) <= self.deaths:
                    raise Killed

            return ping

    return Mortal()


def _advance_over_deaths(cloud, span):
    until = cloud.now + span
    while cloud.now < until:
        try:
            cloud.advance(until - cloud.now)
        except Killed:
            continue


def test_a_killed_run_is_repeated_after_its_lease_without_using_up_an_attempt(mortal):
    cloud = SimulatedCloud(mortal.app, start=NOON)
    action = cloud.scheduler.schedule(Ping(), at=timedelta(0))
    _advance_over_deaths(cloud, timedelta(minutes=15))
    assert [(attempt, fence) for attempt, fence, _ in mortal.runs] == [(1, 1), (1, 2)]
    waited = mortal.runs[1][2] - mortal.runs[0][2]
    assert timedelta(minutes=5) < waited < timedelta(minutes=6)
    settled = cloud.scheduler.get(action.id)
    assert (settled.status, settled.recoveries) == (Status.EXECUTED, 1)
    assert [number for number, _ in settled.numbered_attempts()] == [1, 1]


def test_an_action_that_kills_its_worker_every_time_fails_in_the_end(mortal):
    mortal.deaths = 99
    cloud = SimulatedCloud(mortal.app, start=NOON)
    action = cloud.scheduler.schedule(Ping(), at=timedelta(0))
    _advance_over_deaths(cloud, timedelta(hours=3))
    failed = cloud.scheduler.get(action.id)
    assert failed.status is Status.FAILED
    assert failed.failure_reason == "Fatal: its worker died 6 times in the middle of a run"


def test_a_run_that_lost_its_lease_settles_nothing(mortal):
    cloud = SimulatedCloud(mortal.app, start=NOON)
    action = cloud.scheduler.schedule(Ping(), at=timedelta(0))
    with pytest.raises(Killed):
        cloud.advance(seconds=1)
    held = cloud.memory.store.get(action.ref)
    _advance_over_deaths(cloud, timedelta(minutes=15))
    executed = cloud.scheduler.get(action.id)
    settle_cancelled(cloud.memory, held)
    assert cloud.scheduler.get(action.id) == executed


def test_a_type_in_no_manifest_fails_at_once_with_the_reason(cloud):
    action = cloud.scheduler.schedule(Ping(), at=timedelta(seconds=5))
    cloud.advance(seconds=6)
    failed = cloud.scheduler.get(action.id)
    assert (failed.status, failed.attempt) == (Status.FAILED, 1)
    assert "no handler is registered for the type 'ping'" in failed.failure_reason


def test_a_type_that_another_manifest_has_waits_for_the_roll_over(cloud, memory):
    publish_route(memory, "ping", 1)
    action = cloud.scheduler.schedule(Ping(), at=timedelta(seconds=5))
    cloud.advance(minutes=4)
    assert cloud.scheduler.get(action.id).status is Status.PENDING


def test_a_payload_that_its_model_rejects_fails_with_the_reason_and_is_not_retried(shop):
    class Old(Payload, name="charge"):
        amount: int

    old_app = App()
    cloud = SimulatedCloud(shop.app, start=NOON)
    assert "charge" not in old_app.handlers
    action = cloud.scheduler.schedule(Old(amount=3), at=timedelta(seconds=5))
    cloud.advance(hours=3)
    failed = cloud.scheduler.get(action.id)
    assert (failed.status, failed.attempt) == (Status.FAILED, 1)
    assert "amount: Extra inputs are not permitted" in failed.failure_reason


def test_a_running_action_that_is_cancelled_ends_cancelled_if_its_handler_stops():
    app, cloud = App(), None

    @app.action
    def ping(payload: Ping, run: Run) -> None:
        requested = cloud.scheduler.cancel(run.id)
        assert requested.status is Status.PROCESSING
        run.stop.set()
        try:
            run.raise_if_cancelled()
        except Exception as error:
            raise AssertionError("a handler's own except must not swallow it") from error

    cloud = SimulatedCloud(app, start=NOON)
    action = cloud.scheduler.schedule(Ping(), at=timedelta(0))
    cloud.advance(seconds=1)
    cancelled = cloud.scheduler.get(action.id)
    assert (cancelled.status, cancelled.cancelled_by) == (Status.CANCELLED, "simulation")


def test_a_failing_run_with_a_requested_cancel_is_not_retried():
    app, cloud = App(), None

    @app.action
    def ping(payload: Ping, run: Run) -> None:
        cloud.scheduler.cancel(run.id)
        raise ConnectionError("no answer")

    cloud = SimulatedCloud(app, start=NOON)
    action = cloud.scheduler.schedule(Ping(), at=timedelta(0))
    cloud.advance(hours=3)
    failed = cloud.scheduler.get(action.id)
    assert (failed.status, failed.attempt) == (Status.FAILED, 1)


def test_a_long_failure_message_is_cut_at_500_characters():
    app = App()

    @app.action
    def ping(payload: Ping) -> None:
        raise ValueError("x" * 5_000)

    cloud = SimulatedCloud(app, start=NOON)
    action = cloud.scheduler.schedule(Ping(), at=timedelta(0))
    cloud.advance(hours=3)
    reason = cloud.scheduler.get(action.id).failure_reason
    assert len(reason) == 500
    assert reason.endswith("…")


def test_a_bad_row_among_many_blocks_no_other(shop, cloud, memory):
    bad = cloud.scheduler.schedule(Charge(order="bad"), at=timedelta(0))
    original = memory.store.claim

    def claim(ref, terms):
        if ref.id == bad.id:
            raise BackendUnavailable("the actions table", "this row can never be claimed")
        return original(ref, terms)

    memory.store.claim = claim
    for number in range(5):
        cloud.scheduler.schedule(Charge(order=f"o-{number}"), at=timedelta(minutes=number))
    for _ in range(100):
        try:
            cloud.advance(minutes=1)
        except BackendUnavailable:
            continue
    assert sorted(order for order, _ in shop.charged) == [f"o-{index}" for index in range(5)]


def test_embedded_runs_without_any_cloud_by_the_real_clock(shop):
    done = threading.Event()
    app = App()

    @app.action
    def ping(payload: Ping, run: Run) -> None:
        assert run.now() >= run.due_at
        done.set()

    with app.embedded(tenant_id="acme", actor="test") as scheduler:
        action = scheduler.schedule(Ping(), at=timedelta(seconds=0.2), precision="millisecond")
        assert done.wait(30)
        while scheduler.get(action.id).status is not Status.EXECUTED:
            threading.Event().wait(0.01)
