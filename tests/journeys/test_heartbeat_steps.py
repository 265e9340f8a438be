"""The steps of a heartbeat: which runs get a beat, and when a lease no longer counts."""

import threading
from datetime import timedelta

import pytest

from duetime.errors import BackendUnavailable
from duetime.ports.wakeups import Delivery
from duetime.settings import Settings
from duetime.testing.turned_clock import TurnedClock
from duetime.wakeups.due_messages import message_of
from duetime.worker.heartbeat import Heartbeat, visibility
from duetime_contract.specimens import CALLER, LEASE, NOON, SKEW, TICK, running, stored_row
from tests.backends import backends
from tests.hooked import Hooked

SETTINGS = Settings(lease=LEASE, clock_skew=SKEW)
BEAT = SETTINGS.heartbeat


class Queues:
    """Queues that record how long messages were hidden."""

    def __init__(self):
        self.hidden = []

    def extend(self, _queue, receipt, seconds):
        self.hidden.append((receipt, seconds))


class Watch:
    """A heartbeat whose thread waits at its first poll for ever, so that a test makes the beats."""

    def __init__(self, store):
        self.store, self.queues, self.clock = Hooked(store), Queues(), TurnedClock(NOON)
        over = backends(self.store, queues=self.queues, clock=self.clock, settings=SETTINGS)
        self.heartbeat = Heartbeat(over, pause=self.waits)
        self.row, self.stop = running(store), threading.Event()

    def waits(self, _seconds):
        threading.Event().wait()

    def watching(self, row=None, stop=None):
        row = row or self.row
        delivery = Delivery(message_of(row), NOON, row.id)
        return self.heartbeat.watching(
            row, stop or self.stop, NOON + 9 * LEASE, delivery, "default", since=self.clock.elapsed()
        )

    def lease(self):
        return stored_row(self.store.backend, self.row.ref).lease_until - NOON


@pytest.fixture
def watch(store):
    return Watch(store)


@pytest.mark.parametrize(
    ("late", "lease"), [(BEAT - TICK, LEASE), (BEAT, BEAT + LEASE)], ids=["not yet", "it is due"]
)
def test_a_lease_and_its_message_are_renewed_once_a_beat_is_due(watch, late, lease):
    with watch.watching() as watched:
        watch.clock.wait_until(NOON + late)
        watch.heartbeat.look_after(watched)
        assert watch.lease() == lease
        hidden = [(watch.row.id, visibility(SETTINGS))] if lease > LEASE else []
        assert watch.queues.hidden == hidden
        watch.heartbeat.look_after(watched)
        assert watch.queues.hidden == hidden
    assert visibility(SETTINGS) == int((LEASE + SKEW).total_seconds()) + 1


def unavailable(*_given):
    raise BackendUnavailable("DynamoDB", "throttled")


@pytest.mark.parametrize(("late", "holds"), [(LEASE - TICK, True), (LEASE, False)])
def test_a_lease_that_cannot_be_renewed_holds_until_its_end(watch, late, holds):
    watch.store.hooks["renew"] = unavailable
    with watch.watching() as watched:
        watch.clock.wait_until(NOON + late)
        assert watch.heartbeat.still_holds(watched) is holds
    assert watch.queues.hidden == []


def test_a_run_that_has_lost_its_lease_does_not_begin_within_its_time(watch):
    with watch.watching() as watched:
        assert watch.heartbeat.still_holds(watched)
        watched.is_lost = True
        assert not watch.heartbeat.still_holds(watched)


def test_a_beat_stops_a_run_that_was_taken_over_or_whose_cancel_was_requested(watch, store):
    with watch.watching() as watched:
        watch.heartbeat.look_after(watched)
        assert not watch.stop.is_set()
        store.ask_to_cancel(watch.row, by=CALLER, at=NOON)
        watch.heartbeat.look_after(watched)
        assert (watch.stop.is_set(), watched.is_lost) == (True, False)
    watch.stop.clear()
    watch.store.hooks["peek"] = lambda *_given: None
    with watch.watching() as watched:
        watch.heartbeat.look_after(watched)
    assert (watch.stop.is_set(), watched.is_lost) == (True, True)


def test_a_run_that_rests_gets_no_beat_until_it_resumes(watch, store):
    other = running(store)
    with watch.watching() as watched, watch.watching(other) as beside:
        watch.heartbeat.rest(watch.row)
        assert watch.heartbeat.resting == {watch.row.ref}
        assert (watched.rests, beside.rests) == (True, False)
        watch.clock.wait_until(NOON + BEAT)
        watch.heartbeat.look_after(watched)
        assert watch.lease() == LEASE
        watch.heartbeat.resume(watch.row)
        watch.heartbeat.look_after(watched)
        assert watch.lease() == BEAT + LEASE


def test_a_run_rests_at_once_while_another_one_gets_its_beat(watch, store):
    other = running(store)
    with watch.watching(), watch.watching(other) as beside:
        watch.heartbeat._beaten = beside
        thread = threading.Thread(target=watch.heartbeat.rest, args=(watch.row,), daemon=True)
        thread.start()
        thread.join(20)
        assert not thread.is_alive()
        watch.heartbeat._beaten = None


def test_a_run_that_has_ended_gets_no_further_beat(watch):
    with watch.watching() as watched:
        pass
    watch.clock.wait_until(NOON + BEAT)
    watch.heartbeat._beat_once(watched)
    assert (watch.lease(), watch.queues.hidden) == (LEASE, [])


def test_a_thread_that_has_died_is_replaced_by_the_next_run(watch):
    with watch.watching():
        living = watch.heartbeat._thread
    with watch.watching():
        assert watch.heartbeat._thread is living
    watch.heartbeat._thread = died = threading.Thread(target=len, args=("",))
    died.start()
    died.join()
    with watch.watching():
        assert watch.heartbeat._thread is not died
        assert watch.heartbeat._thread.is_alive()


def test_a_message_that_cannot_be_hidden_ends_no_run(watch):
    watch.queues.extend = unavailable
    delivery = Delivery(message_of(watch.row), NOON, "receipt")
    watch.heartbeat.hide(delivery, "default")
    assert watch.lease() == timedelta(0) + LEASE


def test_a_renewed_lease_counts_from_before_the_call_that_renews_it(watch):
    def slow(renew, *given):
        renewed = renew(*given)
        watch.clock.wait_until(NOON + BEAT + LEASE)
        return renewed

    watch.store.hooks["renew"] = slow
    with watch.watching() as watched:
        watch.clock.wait_until(NOON + BEAT)
        assert not watch.heartbeat.still_holds(watched)
    assert watch.lease() == BEAT + LEASE


def test_a_thread_that_waits_for_a_run_beats_for_the_next_one(watch):
    idle, polled = threading.Event(), threading.Event()
    watch.heartbeat._pause = lambda _seconds: polled.set()
    changed = watch.heartbeat._changed
    waits_for = changed.wait_for

    def wait_for(predicate):
        if not predicate():
            idle.set()  # the lock is free only once the thread waits
        return waits_for(predicate)

    changed.wait_for = wait_for
    with watch.watching():
        assert polled.wait(20)
    assert idle.wait(20)
    polled.clear()
    with watch.watching():
        assert polled.wait(20)
