"""A run that lasts: its lease is renewed, its cancel is seen, and a lost lease stops it.

By the real clock.
"""

import threading
from dataclasses import replace
from datetime import timedelta

import pytest

from duetime import App, Payload, Run, Status
from duetime.clock import SystemClock
from duetime.embedded.cloud import MemoryCloud
from duetime.scheduler import Scheduler
from duetime.settings import Made, Settings

BRISK = Settings(
    lease=timedelta(seconds=2),
    heartbeat=timedelta(seconds=0.4),
    cancel_poll=timedelta(seconds=0.1),
    clock_skew=timedelta(0),
    made=Made(queue_visibility=timedelta(seconds=60)),
)


class Long(Payload):
    pass


class Process:
    """A worker's process with one run under way, held until it is let go."""

    def __init__(self, timeout=60):
        self.app, self.started, self.let_go, self.run = App(), threading.Event(), threading.Event(), None
        self.app.action(timeout=timeout)(self._handler())
        self.cloud = MemoryCloud(self.app, clock=SystemClock(), settings=BRISK)
        self.scheduler = Scheduler(
            self.cloud.store, tenant_id="acme", actor="test", clock=SystemClock(), settings=BRISK
        )
        self.action = self.scheduler.schedule(Long(), at=timedelta(0))
        self.thread = threading.Thread(target=self._work)
        self.thread.start()
        assert self.started.wait(30)

    def _handler(self):
        def long(payload: Long, run: Run) -> None:
            self.run = run
            self.started.set()
            while not self.let_go.wait(0.02):
                run.raise_if_cancelled()

        return long

    def _work(self):
        self.cloud.run(self.cloud.turn())

    def row(self):
        return self.scheduler.get(self.action.id)

    def end(self):
        self.let_go.set()
        self.thread.join(30)
        return self.row()


@pytest.fixture
def process():
    started = []

    def start(**options):
        started.append(Process(**options))
        return started[-1]

    yield start
    for watch in started:
        watch.end()


def _until(condition):
    for _ in range(3_000):
        if condition():
            return
        threading.Event().wait(0.01)
    raise AssertionError("it never came true")


def test_a_run_longer_than_its_lease_renews_the_lease_and_its_message(process):
    running = process()
    first = running.row().lease_until
    _until(lambda: running.row().lease_until > first + BRISK.lease)
    assert running.cloud.queues.receive() is None
    settled = running.end()
    assert (settled.status, settled.fence, settled.recoveries) == (Status.EXECUTED, 1, 0)


def test_a_handler_sees_a_cancel_and_its_event_names_the_caller(process):
    running = process()
    requested = running.scheduler.cancel(running.action.id)
    assert (requested.status, requested.cancel_request.by) == (Status.PROCESSING, "test")
    running.thread.join(30)
    settled = running.row()
    assert (settled.status, settled.cancelled_by) == (Status.CANCELLED, "test")
    assert settled.cancel_request is not None


def test_a_run_that_was_taken_over_stops_and_settles_nothing(process):
    running = process()
    store = running.cloud.store
    row = store.get(running.action.ref)
    with store.lock:
        taken_over = store.write(row, _under_another_fence(row))
    running.thread.join(30)
    assert running.run.cancelled
    assert store.get(running.action.ref) == taken_over


def test_a_run_past_its_timeout_is_not_renewed(process):
    running = process(timeout=0.5)
    _until(lambda: running.run.now() > running.run.deadline)
    running.thread.join(30)
    settled = running.row()
    assert settled.status is Status.PENDING
    assert settled.attempts[-1].message.startswith("RunTimedOut: the run passed its deadline")


def _under_another_fence(row):
    return replace(row, fence=row.fence + 1)
