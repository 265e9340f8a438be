"""A failover that stops between two of its steps loses nothing, and a repeat goes on. In memory."""

from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta

import pytest

from duetime import App, Payload, Run, every
from duetime.errors import BackendUnavailable, OperationFailed
from duetime.ids import SYSTEM_TENANT, job_name
from duetime.model.action import Status
from duetime.model.job import JobRef
from duetime.settings import Settings
from duetime.testing import SimulatedCloud, TurnedClock
from duetime.wakeups.failover import Switch, TakeOver
from duetime_contract.specimens import NOON
from duetime_faults.shared_region import MemoryActiveRegions, SharedRegionItem

FIRST, SECOND = "eu-central-1", "eu-west-1"
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
NIGHTLY = JobRef(SYSTEM_TENANT, job_name("ledger-close"))


class Charge(Payload):
    account: str = "a"


@pytest.fixture
def shared():
    return SharedRegionItem()


@pytest.fixture
def clock():
    return TurnedClock(NOON)


@pytest.fixture
def switch(shared, clock):
    return Switch(MemoryActiveRegions(SECOND, shared), clock=clock, settings=Settings(), by="ada")


def test_a_repeated_failover_goes_on_at_its_epoch(switch, shared):
    first = switch.fence(SECOND)
    assert switch.fence(SECOND) == first == shared.item
    switch.activate(first)
    with pytest.raises(OperationFailed, match="active"):
        switch.fence(SECOND)
    assert (shared.item.epoch, shared.item.region) == (first.epoch, SECOND)


def test_a_failover_waits_for_what_is_left_since_the_epoch_has_moved(switch, clock):
    since = clock.elapsed()
    clock.wait_until(NOON + MINUTE)
    switch.wait(since, 3 * MINUTE)
    assert clock.now() == NOON + 3 * MINUTE
    switch.wait(since, MINUTE)
    assert clock.now() == NOON + 3 * MINUTE


@pytest.fixture
def cloud():
    app = App()

    @app.action
    def charge(payload: Charge, run: Run) -> None:
        """Do nothing."""

    @app.job(every(hours=1), name=NIGHTLY.name)
    def close(run: Run) -> None:
        """Do nothing."""

    cloud = SimulatedCloud(app, start=NOON)
    yield cloud
    cloud.close()


class Around:
    """A port of which some methods are replaced."""

    def __init__(self, port, **methods):
        self._port = port
        vars(self).update(methods)

    def __getattr__(self, name):
        return getattr(self._port, name)


@contextmanager
def sent_by(cloud):
    """Collect the actions that are sent to a queue."""
    found = set()

    def send(sends):
        found.update(item.message.ref for item in sends)

    yield replace(cloud.memory.backends, queues=Around(cloud.memory.backends.queues, send=send)), found


def take_over(backends):
    return TakeOver(backends)


def test_actions_are_woken_even_if_no_job_can_be_read(cloud):
    action = cloud.scheduler.schedule(Charge(), at=MINUTE)

    def fail(*_, **__):
        raise BackendUnavailable("the jobs table", "it does not respond")

    with sent_by(cloud) as (backends, sent):
        broken = replace(backends, jobs=Around(backends.jobs, due_for_maintenance=fail))
        with pytest.raises(BackendUnavailable):
            take_over(broken)(cloud.now)
    assert action.ref in sent


def test_a_run_of_the_former_region_gets_a_message(cloud):
    action = cloud.scheduler.schedule(Charge(), at=MINUTE)
    store, lease = cloud.memory.backends.store, timedelta(minutes=5)
    started = replace(store.get(action.ref), lease_until=cloud.now + lease, fence=1, nonce="n")
    store.write(store.get(action.ref), replace(started, status=Status.PROCESSING))
    with sent_by(cloud) as (backends, sent):
        done = take_over(backends)(cloud.now)
    assert (done.sent, done.armed) == (1, len(cloud.actions("pending")))
    assert action.ref in sent


def test_a_job_that_is_removed_meanwhile_is_no_failure(cloud):
    with sent_by(cloud) as (backends, _):
        jobs = Around(backends.jobs, get=lambda ref: None if ref == NIGHTLY else backends.jobs.get(ref))
        done = take_over(replace(backends, jobs=jobs))(cloud.now)
    assert (done.failed, done.missing) == ([], {})
