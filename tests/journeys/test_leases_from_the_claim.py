"""A lease counts from before the claim, and a pass wakes what a dead run has left."""

from dataclasses import replace
from datetime import timedelta

import pytest

from duetime.model.action import Status
from duetime.settings import Settings
from duetime.testing.turned_clock import TurnedClock
from duetime.wakeups.due_scanner import DueScanner, DueWindow
from duetime.worker.worker import DeliveryResult
from duetime_contract.specimens import CALLER, EXPIRY, LEASE_END, NOON, SKEW, TICK, running
from tests.backends import backends
from tests.hooked import Hooked
from tests.journeys.recording_queue import RecordingQueue
from tests.journeys.skewed_workers import LEASE, MINUTE, SETTINGS, Mail, SkewedWorkers
from tests.journeys.skewed_workers import SKEW as WORKERS_SKEW

ENDED = LEASE + WORKERS_SKEW + TICK


def slow_after_claim(skewed, until, then=lambda: None):
    """Return a worker whose process rests between its claim and its handler."""
    store, before = Hooked(skewed.cloud.backends.store), skewed.cloud.backends

    def claim(method, *given):
        claimed = method(*given)
        skewed.cloud.backends = before
        skewed.clock.wait_until(until)
        then()
        return claimed

    store.hooks["claim"] = claim
    skewed.cloud.backends = replace(before, store=store)
    return skewed.worker("first")


@pytest.fixture
def skewed():
    made = SkewedWorkers()
    made.ref = made.scheduler.schedule(Mail(), at=-MINUTE).ref
    return made


def test_a_run_whose_process_rested_longer_than_its_lease_after_the_claim_does_not_begin(skewed):
    start = skewed.clock.now()
    rested = slow_after_claim(skewed, start + ENDED, skewed.worker("second"))
    assert rested() is DeliveryResult.PUT_OFF
    assert [name for name, _ in skewed.runs] == ["second"]
    assert (skewed.row.status, skewed.row.fence) == (Status.EXECUTED, 2)


@pytest.mark.parametrize("early", [TICK, timedelta(0)], ids=["before it is due", "when it is due"])
def test_a_lease_is_renewed_before_the_handler_if_a_beat_is_due_since_the_claim(skewed, early):
    start, lease = skewed.clock.now(), []
    skewed.does = lambda _name: lease.append(skewed.row.lease_until - start)
    slow_after_claim(skewed, start + SETTINGS.heartbeat - early)()
    assert lease == [LEASE if early else SETTINGS.heartbeat + LEASE]


@pytest.fixture
def pass_at(store):
    """Scan the shard of a row as a pass does at an instant; return the ids that were sent."""

    def scan(row, now):
        clock = TurnedClock(now)
        queue = RecordingQueue(clock)
        settings = Settings(clock_skew=SKEW)
        scanner = DueScanner(backends(store, queues=queue, clock=clock, settings=settings))
        window = DueWindow("test", row.due_shard, None, now)
        result, _ = scanner.wake([window], stop_at=now + MINUTE)
        assert result.sent == len(queue.sent)
        return queue.sent

    return scan


@pytest.mark.parametrize("late", [timedelta(0), TICK], ids=["it may still run", "it is dead"])
def test_a_pass_wakes_a_run_once_its_lease_ended_longer_ago_than_the_skew(store, pass_at, late):
    row = running(store)
    assert pass_at(row, LEASE_END + SKEW + late) == ([row.id] if late else [])


def test_a_pass_wakes_neither_a_run_that_lives_nor_an_action_that_has_ended(store, pass_at):
    row, other = running(store), running(store)
    assert pass_at(row, NOON + SKEW) == []
    store.ask_to_cancel(other, by=CALLER, at=NOON)
    settled = replace(other, status=Status.CANCELLED, lease_until=None, kept_until=EXPIRY)
    with store.lock:
        store.write(other, settled)
    assert pass_at(settled, LEASE_END) == []
