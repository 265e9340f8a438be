"""Several messages in one call of a worker, in simulated time: each run has a life of its own."""

import itertools
import threading
from datetime import UTC, datetime, timedelta

import pytest

from duetime import App, Batch, Order, Payload, Run
from duetime.clock import SystemClock
from duetime.errors import BackendUnavailable, SettingsError
from duetime.ports.wakeups import Delivery
from duetime.settings import Settings
from duetime.testing import Faults, SimulatedCloud, WorkerDied
from duetime.wakeups.due_messages import message_of
from duetime.worker.batch import HandleBatch, in_turn

NOON = datetime(2027, 6, 1, 12, tzinfo=UTC)


class Errand(Payload):
    number: int = 0
    lasts: float = 0


class Poison(Payload):
    """Ends its process."""


def cloud_of(*handlers, batch=10, **more):
    app = App()
    for handler in handlers:
        app.action(timeout=timedelta(minutes=14))(handler)
    settings = Settings(worker_batch=batch)
    faults = Faults.only(5)
    cloud = SimulatedCloud(app, start=NOON, settings=settings, faults=faults, **more)
    cloud.memory.concurrency = 1
    return cloud


@pytest.fixture
def ran():
    return []


@pytest.fixture
def errand(ran):
    def errand(payload: Errand, run: Run) -> None:
        ran.append((payload.number, run.now() - NOON))
        run.clock.wait_until(run.now() + timedelta(seconds=payload.lasts))

    return errand


def starts_of(actions):
    return [action.attempts[-1].started_at - NOON for action in actions]


def test_one_call_has_at_most_so_many_runs_and_a_batch_of_one_none_more(errand, ran):
    for batch, at_a_time in ((1, 1), (4, 4), (10, 10)):
        ran.clear()
        cloud = cloud_of(errand, batch=batch)
        for number in range(20):
            cloud.scheduler.schedule(Errand(number=number, lasts=60), at=NOON + timedelta(minutes=1))
        cloud.advance(hours=1)
        started = [at for _, at in ran]
        assert max(map(started.count, started)) == at_a_time
        assert {action.status for action in cloud.actions()} == {"executed"}
        cloud.check()
        cloud.close()


def test_each_run_of_a_call_begins_at_its_own_due_time(errand, ran):
    cloud = cloud_of(errand)
    fractions = [0.9, 0.1, 0.5, 0.0, 0.7]
    for number, fraction in enumerate(fractions):
        due_at = NOON + timedelta(minutes=1, seconds=fraction)
        cloud.scheduler.schedule(Errand(number=number), at=due_at)
    cloud.advance(minutes=2)
    assert sorted(ran) == [(n, timedelta(seconds=60 + f)) for n, f in enumerate(fractions)]
    cloud.check()
    cloud.close()


def test_a_short_run_is_settled_long_before_the_slow_one_of_its_call(errand):
    cloud = cloud_of(errand)
    slow = cloud.scheduler.schedule(Errand(lasts=600), at=NOON + timedelta(minutes=1))
    short = cloud.scheduler.schedule(Errand(lasts=1), at=NOON + timedelta(minutes=1))
    cloud.advance(minutes=2)
    assert cloud.scheduler.get(short.id).status == "executed"
    assert cloud.scheduler.get(slow.id).status == "processing"
    cloud.advance(minutes=10)
    row = cloud.scheduler.get(slow.id)
    assert (row.status, row.recoveries, len(row.attempts)) == ("executed", 0, 1)  # its lease was renewed
    cloud.close()


def test_nine_actions_outlive_one_that_ends_its_process_each_time(errand, ran):
    """They come again together: taken over side by side, all ten would fail after five dead processes."""

    def poison(payload: Poison, run: Run) -> None:
        run.clock.wait_until(run.now() + timedelta(seconds=1))
        raise WorkerDied

    cloud = cloud_of(errand, poison)
    for number in range(9):
        cloud.scheduler.schedule(Errand(number=number, lasts=30), at=NOON + timedelta(minutes=1))
    dies = cloud.scheduler.schedule(Poison(), at=NOON + timedelta(minutes=1))
    cloud.advance(hours=6)
    nine = [action for action in cloud.actions() if action.type == "errand"]
    assert [action.status for action in nine] == ["executed"] * 9
    assert max(action.recoveries for action in nine) == 1
    ended = cloud.scheduler.get(dies.id)
    assert (ended.status, ended.recoveries) == ("failed", 6)
    assert "its worker died 6 times" in ended.attempts[-1].message
    cloud.check()
    cloud.close()


def test_dead_runs_run_one_by_one_after_the_others_of_their_call(errand, ran):
    cloud = cloud_of(errand)
    when = NOON + timedelta(minutes=1)
    for number in range(3):
        cloud.scheduler.schedule(Errand(number=number, lasts=60), at=when)
    cloud.advance(minutes=1, seconds=10)
    cloud.close()  # all processes end
    for number in range(3, 6):
        cloud.scheduler.schedule(Errand(number=number, lasts=60), at=cloud.now + timedelta(minutes=6))
    ran.clear()
    cloud.advance(hours=1)
    assert {action.status for action in cloud.actions()} == {"executed"}
    cloud.check()
    cloud.close()
    starts = [at for number, at in ran if number < 3]
    assert min(b - a for a, b in itertools.pairwise(starts)) >= timedelta(seconds=60)


@pytest.mark.parametrize("path", [None, "jobs.db"])
def test_an_embedded_handler_of_many_gets_up_to_its_number_of_actions(tmp_path, path):
    app, calls, all_ran = App(), [], threading.Event()

    @app.action(many=True)
    def errands(batch: Batch[Errand]) -> None:
        calls.append([payload.number for payload, _ in batch.items])
        if sum(map(len, calls)) == 30:
            all_ran.set()

    with app.embedded(path and tmp_path / path, worker_batch=10) as scheduler:
        at = SystemClock().now() + timedelta(seconds=0.5)
        orders = [Order(payload=Errand(number=number), at=at) for number in range(30)]
        actions = scheduler.schedule_many(orders)
        assert all_ran.wait(60)
    assert sorted(number for call in calls for number in call) == list(range(30))
    assert 1 < max(map(len, calls)) <= 10
    assert all(action.due_at == at for action in actions)


@pytest.mark.parametrize("number", [0, 11, "ten"])
def test_an_embedded_scheduler_rejects_a_batch_out_of_range(number):
    with pytest.raises(SettingsError, match="worker_batch is"):
        App().embedded(worker_batch=number).__enter__()


class Orphan:
    """A run whose process died, beside a new action, and the worker that gets both in one call."""

    def __init__(self, minutes):
        self.ran, app = [], App()

        @app.action
        def errand(payload: Errand, run: Run) -> None:
            self.ran.append(payload.number)
            if len(self.ran) == 1:
                raise WorkerDied
            run.clock.wait_until(run.now() + timedelta(seconds=payload.lasts))

        self.cloud = SimulatedCloud(app, start=NOON)
        self.dead = self.cloud.scheduler.schedule(Errand(number=1), at=NOON).id
        with pytest.raises(WorkerDied):
            self.cloud.advance(minutes=1)
        self.cloud.clock.wait_until(NOON + timedelta(minutes=minutes))

    def handle(self, lasts, ends_in):
        memory, scheduler = self.cloud.memory, self.cloud.scheduler
        new = scheduler.schedule(Errand(number=2, lasts=lasts), at=timedelta(0)).id
        handle = HandleBatch(
            memory.workers["default"], clock=self.cloud.clock, concurrently=in_turn, shares_loop=False
        )
        rows = [scheduler.get(action) for action in (self.dead, new)]
        deliveries = [Delivery(message_of(row), row.due_at, row.id) for row in rows]
        assert handle(deliveries, self.cloud.now + timedelta(seconds=ends_in)) == {}
        return [scheduler.get(action).status.value for action in (self.dead, new)]


@pytest.mark.parametrize(
    ("minutes", "lasts", "ends_in", "ran", "statuses"),
    [
        pytest.param(6, 1, 900, [2, 1], ["executed"] * 2, id="last"),
        pytest.param(6, 1, 60, [2, 1], ["executed"] * 2, id="in nearly all of a short call"),
        pytest.param(6, 200, 330, [2], ["processing", "executed"], id="put off without time"),
        pytest.param(30, 1, 900, [1, 2], ["executed"] * 2, id="beside others after a while"),
    ],
)
def test_a_dead_run_waits_for_the_others_of_its_call_and_for_time(minutes, lasts, ends_in, ran, statuses):
    orphan = Orphan(minutes)
    assert orphan.handle(lasts, ends_in) == statuses
    assert orphan.ran == [1, *ran]
    sent = [message.ref.id for message in orphan.cloud.memory.queues.messages.values()]
    assert (sent.count(orphan.dead) == 2) is (
        statuses[0] == "processing"
    )  # the first one, and the one put off


def test_a_message_whose_run_reports_nothing_comes_again():
    cloud = SimulatedCloud(App(), start=NOON)
    action = cloud.scheduler.get(cloud.scheduler.schedule(Errand(), at=timedelta(0)).id)
    worker = cloud.memory.workers["default"]
    handle = HandleBatch(worker, clock=cloud.clock, concurrently=lambda _steps: None)
    failed = handle([Delivery(message_of(action), action.due_at, "r-1")] * 2)
    assert [type(error) for error in failed.values()] == [BackendUnavailable] * 2
