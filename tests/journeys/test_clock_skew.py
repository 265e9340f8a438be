"""Machines' clocks differ.

Two workers on one store, each with a clock of its own, a handler that nothing interrupts.
"""

from datetime import timedelta

import pytest

from duetime import App, Payload, Run, Status
from duetime.embedded.cloud import MemoryCloud
from duetime.ports.wakeups import Delivery
from duetime.scheduler import Scheduler
from duetime.settings import Settings
from duetime.testing import Faults, SimulatedCloud, WorkerDied
from duetime.testing.turned_clock import TurnedClock
from duetime.wakeups.due_messages import message_of
from duetime.worker.heartbeat import Heartbeat
from duetime.worker.worker import DeliveryResult, Worker, WorkerPorts
from tests.journeys.conftest import NOON

SETTINGS = Settings()
LEASE, SKEW = SETTINGS.lease, SETTINGS.clock_skew
TICK, SECOND, MINUTE, HOUR = (
    timedelta(microseconds=1),
    timedelta(seconds=1),
    timedelta(minutes=1),
    timedelta(hours=1),
)
JOB = "press-print"


class Mail(Payload):
    pass


class OffClock:
    """A clock that is off by a span."""

    def __init__(self, clock, off):
        self._clock, self._off = clock, off

    def now(self):
        return self._clock.now() + self._off

    def wait_until(self, instant):
        self._clock.wait_until(instant - self._off)


class SkewedWorkers:
    """One store and workers with skewed clocks; a test sets what a run does."""

    def __init__(self):
        self.clock = TurnedClock(NOON)
        self.runs, self.does = [], len
        self.cloud = MemoryCloud(self.app("cloud"), clock=self.clock, settings=SETTINGS)
        self.scheduler = self.scheduler_of(timedelta(0))

    def scheduler_of(self, off):
        return Scheduler(
            self.cloud.store,
            tenant_id="acme",
            actor="test",
            clock=OffClock(self.clock, off),
            settings=SETTINGS,
            jobs=self.cloud.job_ports,
        )

    def app(self, name):
        app = App()

        @app.action
        def mail(payload: Mail, run: Run) -> None:
            self.begin(name)

        @app.job(name=JOB)
        def press(run: Run) -> None:
            self.begin(name)

        return app

    def begin(self, name):
        self.runs.append((name, self.clock.now() - NOON))
        self.does(name)

    def worker(self, name, off=timedelta(0)):
        """Have that worker look at the action, as if a message had come to it."""
        seen, clock = self.cloud.backends, OffClock(self.clock, off)
        heartbeat = Heartbeat(seen.store, seen.queues, clock=clock, settings=SETTINGS)
        ports = WorkerPorts(seen.store, seen.jobs, seen.queues, seen.routes, heartbeat)
        work = Worker(self.app(name).handler_set, ports, clock=clock, settings=SETTINGS, instance=name)
        return lambda: work(Delivery(message_of(self.row), clock.now(), name))

    def begun_at(self, off, lasts, then):
        """A run of the worker `first`, whose clock is off by that.

        After `lasts`, while it still runs, `then` happens.
        """

        def first_lasts(name):
            if name == "first":
                self.clock.wait_until(NOON + lasts)
                then()

        self.does = first_lasts
        self.worker("first", off)()

    @property
    def row(self):
        return self.cloud.store.get(self.ref)


@pytest.fixture(params=["an action", "a job's run"])
def skewed(request):
    made = SkewedWorkers()
    if request.param == "an action":
        made.ref = made.scheduler.schedule(Mail(), at=-MINUTE).ref
    else:
        made.ref = made.scheduler_of(-MINUTE).jobs.trigger(JOB).ref
    return made


APART = [(timedelta(0), SKEW), (SKEW, timedelta(0)), (-SKEW / 2, SKEW / 2), (SKEW / 2, -SKEW / 2)]


@pytest.mark.parametrize(
    ("first", "second"), APART, ids=lambda difference: f"{difference.total_seconds():+}s"
)
def test_workers_at_the_largest_allowed_skew_never_take_over_a_live_lease(skewed, first, second):
    answers = []
    skewed.begun_at(first, LEASE, lambda: answers.append(skewed.worker("second", second)()))
    assert answers == [DeliveryResult.PUT_OFF]
    assert [name for name, _ in skewed.runs] == ["first"]
    assert (skewed.row.status, skewed.row.recoveries, skewed.row.fence) == (Status.EXECUTED, 0, 1)


@pytest.mark.parametrize(
    ("first", "second"), APART, ids=lambda difference: f"{difference.total_seconds():+}s"
)
def test_a_lease_that_has_ended_is_taken_over_at_most_twice_the_skew_later(skewed, first, second):
    taken_over = []

    def then():
        skewed.worker("second", second)()
        taken_over.append(skewed.row)

    skewed.begun_at(first, LEASE + 2 * SKEW + TICK, then)
    assert [name for name, _ in skewed.runs] == ["first", "second"]
    [after] = taken_over
    assert (after.status, after.recoveries, after.fence) == (Status.EXECUTED, 1, 2)
    assert skewed.row == after  # the end of the first run has changed nothing


@pytest.mark.parametrize("off", [-SKEW, SKEW], ids=["behind", "ahead"])
def test_a_settle_counts_by_its_fence_and_not_by_its_clock(skewed, off):
    def dies(name):
        raise WorkerDied

    skewed.does = dies
    with pytest.raises(WorkerDied):
        skewed.worker("first")()
    skewed.does = len
    skewed.clock.wait_until(NOON + LEASE + 2 * SKEW + TICK)
    skewed.worker("second", off)()
    assert (skewed.row.status, skewed.row.recoveries) == (Status.EXECUTED, 1)
    assert [(attempt.instance, attempt.ending) for attempt in skewed.row.attempts] == [
        ("first", None),
        ("second", "executed"),
    ]


def test_clocks_further_apart_double_a_run_but_never_its_end(skewed):
    ends = []
    skewed.begun_at(
        timedelta(0), LEASE, lambda: ends.append((skewed.worker("second", SKEW + SECOND)(), skewed.row))
    )
    assert [name for name, _ in skewed.runs] == ["first", "second"]
    [(_, after)] = ends
    assert (after.status, after.fence) == (Status.EXECUTED, 2)
    assert skewed.row == after


@pytest.mark.parametrize("off", [-SKEW, SKEW], ids=["behind", "ahead"])
def test_no_run_begins_before_its_due_time_by_its_workers_clock(off):
    skewed = SkewedWorkers()
    skewed.ref = skewed.scheduler.schedule(Mail(), at=SECOND).ref
    work = skewed.worker("first", off)
    while work() is DeliveryResult.PUT_OFF:
        skewed.clock.wait_until(skewed.clock.now() + SECOND)
    [(_, begun)] = skewed.runs
    assert begun == max(SECOND - off, timedelta(0))
    assert skewed.row.attempts[0].started_at >= skewed.row.nominal_at


def test_a_key_holds_by_the_callers_clock_and_never_ends_before_its_action():
    skewed = SkewedWorkers()
    ahead = skewed.scheduler_of(SKEW)

    def call(scheduler, at):
        return scheduler.schedule(Mail(), at=at, idempotency_key="k", idempotency_ttl=MINUTE)

    first = call(skewed.scheduler, HOUR)
    skewed.clock.wait_until(NOON + MINUTE)
    assert call(ahead, HOUR) == first
    skewed.scheduler.cancel(first.id)
    skewed.clock.wait_until(NOON + MINUTE - SKEW)
    assert call(ahead, HOUR) != first


def test_ids_sort_by_the_clock_of_their_creator():
    skewed = SkewedWorkers()
    later = skewed.scheduler_of(SKEW).schedule(Mail(), at=HOUR)
    skewed.clock.wait_until(NOON + SECOND)
    sooner = skewed.scheduler.schedule(Mail(), at=HOUR)
    assert [row.id for row in skewed.scheduler.list()] == [later.id, sooner.id]


@pytest.mark.parametrize("seed", range(6))
def test_clocks_at_the_largest_allowed_skew_break_no_invariant(seed):
    app = App()

    @app.action
    def mail(payload: Mail, run: Run) -> None:
        run.clock.wait_until(run.now() + timedelta(seconds=200))

    calm = dict.fromkeys(("crash", "throttle", "lose_answer", "drop", "double", "delay", "reorder"), 0.0)
    cloud = SimulatedCloud(app, faults=Faults(seed, pause=0.2, skew=SKEW, **calm))
    rows = [cloud.scheduler.schedule(Mail(), at=place * MINUTE) for place in range(20)]
    cloud.advance(hours=3)
    cloud.end_faults()
    cloud.advance(hours=7)
    cloud.check()
    assert {cloud.scheduler.get(row.id).status for row in rows} == {Status.EXECUTED}
    cloud.close()
