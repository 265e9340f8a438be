"""A lease counts from the claim, in monotonic time, and a run begins only under a lease."""

import threading
from datetime import timedelta

import pytest

from duetime import Status
from duetime.model.lease import MustBeAlone
from duetime.testing import WorkerDied
from duetime.worker.worker import DeliveryResult
from tests.journeys.conftest import NOON
from tests.journeys.skewed_workers import HOUR, LEASE, SETTINGS, SKEW, TICK
from tests.journeys.skewed_workers import skewed as skewed  # noqa: PLC0414 - a fixture

ENDED = LEASE + SKEW + TICK


def test_a_successor_of_a_dead_worker_honours_the_request_to_cancel(skewed):
    def is_cancelled_and_dies(name):
        if name == "first":
            skewed.cloud.store.ask_to_cancel(skewed.row, by="ann", at=skewed.clock.now())
            raise WorkerDied

    skewed.does = is_cancelled_and_dies
    with pytest.raises(WorkerDied):
        skewed.worker("first")()
    skewed.clock.wait_until(NOON + ENDED)
    skewed.worker("second")()
    assert [name for name, _ in skewed.runs] == ["first"]
    assert skewed.row.status is Status.CANCELLED
    assert "not begun again" in skewed.row.attempts[-1].message


def test_a_dead_run_is_taken_over_only_by_a_process_of_its_own(skewed):
    def dies_first(name):
        if name == "first":
            raise WorkerDied

    skewed.does = dies_first
    with pytest.raises(WorkerDied):
        skewed.worker("first")()
    skewed.clock.wait_until(NOON + ENDED)
    dead = skewed.row
    assert skewed.worker("second")(shares_process=True) == MustBeAlone(dead.recoveries)
    assert skewed.row == dead
    skewed.worker("second")()
    assert skewed.row.status is Status.EXECUTED


def test_a_run_whose_lease_ended_before_its_handler_does_not_begin(skewed):
    def takes_long(name):
        if name == "first":
            skewed.clock.wait_until(NOON + ENDED)
            skewed.worker("second")()

    skewed.makes = takes_long
    assert skewed.worker("first")() is DeliveryResult.PUT_OFF
    assert [name for name, _ in skewed.runs] == ["second"]
    assert (skewed.row.status, skewed.row.fence) == (Status.EXECUTED, 2)


def test_a_lease_that_is_late_but_free_is_renewed_before_the_handler_begins(skewed):
    skewed.makes = lambda _name: skewed.clock.wait_until(NOON + SETTINGS.heartbeat)
    lease = []
    skewed.does = lambda _name: lease.append(skewed.row.lease_until)
    skewed.worker("first")()
    assert lease == [NOON + SETTINGS.heartbeat + LEASE]


class SteppingClock:
    """A clock whose time of day is set back; its monotonic time goes on."""

    def __init__(self, clock):
        self._clock, self.off = clock, timedelta(0)

    def now(self):
        return self._clock.now() + self.off

    def wait_until(self, instant):
        self._clock.wait_until(instant - self.off)

    def elapsed(self):
        return self._clock.elapsed()


def test_a_time_of_day_that_is_set_back_ends_no_lease(skewed):
    clock, beat, beaten = SteppingClock(skewed.clock), threading.Semaphore(0), threading.Semaphore(0)

    def pause(_seconds):
        beaten.release()
        beat.acquire()

    def lasts(_name):
        beaten.acquire()
        clock.off = -HOUR
        for number in range(1, 5):
            skewed.clock.wait_until(NOON + number * SETTINGS.heartbeat)
            beat.release()
            beaten.acquire()
            leases.append(skewed.row.lease_until - skewed.clock.now())

    leases, skewed.does = [], lasts
    skewed.worker("first", clock=clock, pause=pause)()
    beat.release()
    assert [name for name, _ in skewed.runs] == ["first"]
    assert leases == [LEASE] * 4
    assert skewed.row.status is Status.EXECUTED
