"""Concurrency keys in simulated time: not too many at once."""

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import pytest

from duetime import App, Order, Payload, Retry, RetryPolicy, Run, Status
from duetime.errors import InvalidIdentifier
from duetime.settings import Settings
from duetime.testing import SimulatedCloud, WorkerDied
from tests.journeys.conftest import NOON
from tests.journeys.late_settles import settle_cancelled
from tests.journeys.recorded_job import PATIENT

KEY = "customer:42"
NOW, MINUTE, HOUR = timedelta(0), timedelta(minutes=1), timedelta(hours=1)


class Killed(WorkerDied):
    """Stands for a Lambda that was ended in the middle of a run."""


class Sync(Payload):
    name: str
    lasts: timedelta = MINUTE
    fails: int = 0
    dies: int = 0


class SyncRecorder:
    """An app that records when its slow handler ran; the first runs may fail or die."""

    def __init__(self, timers="eventbridge", settings=PATIENT):
        self.app, self.spans, self.running, self.most = App(), [], [], 0
        self.app.action(retry=RetryPolicy(attempts=3, backoff=[3_600], jitter=0))(self._sync())
        self.cloud = SimulatedCloud(self.app, start=NOON, settings=replace(settings, timers=timers))

    def _sync(self):
        def sync(payload: Sync, run: Run) -> None:
            begun = run.now()
            self.running.append(payload.name)
            self.most = max(self.most, len(self.running))
            try:
                if run.fence <= payload.dies:
                    raise Killed
                self.cloud.advance(payload.lasts)
                if run.attempt <= payload.fails:
                    raise Retry
            finally:
                self.running.remove(payload.name)
                self.spans.append((payload.name, begun, run.now()))

        return sync

    def schedule(self, name, *, at=NOW, limit=1, key=KEY, scheduler=None, **how):
        return (scheduler or self.cloud.scheduler).schedule(
            Sync(name=name, **how), at=at, concurrency_key=key, concurrency_limit=limit
        )

    def advance(self, span):
        """Let time pass, over deaths."""
        until = self.cloud.now + span
        while self.cloud.now < until:
            try:
                self.cloud.advance(until - self.cloud.now)
            except Killed:
                continue

    def now_of(self, action):
        return self.cloud.scheduler.get(action.id)


@pytest.fixture(params=["eventbridge", "wheel"])
def syncs(request):
    return SyncRecorder(request.param)


def test_with_a_limit_of_one_they_run_one_after_the_other(syncs):
    for name in "abcd":
        syncs.schedule(name)
    syncs.advance(HOUR)
    spans = sorted(syncs.spans, key=lambda span: span[1])
    assert sorted(name for name, _, _ in spans) == [*"abcd"]
    assert syncs.most == 1
    assert all(
        timedelta(0) <= then - ended <= timedelta(seconds=75)
        for (_, _, ended), (_, then, _) in pairwise(spans)
    )


def test_with_a_limit_of_two_two_run_at_once(syncs):
    for name in "abcdef":
        syncs.schedule(name, limit=2)
    syncs.advance(HOUR)
    assert len(syncs.spans) == 6
    assert syncs.most == 2


def test_each_begins_while_fewer_than_its_own_limit_run(syncs):
    syncs.schedule("wide", limit=2)
    syncs.schedule("narrow", at=timedelta(seconds=10))
    syncs.schedule("wide too", at=timedelta(seconds=20), limit=2)
    syncs.advance(HOUR)
    begun = {name: at - NOON for name, at, _ in syncs.spans}
    assert begun["wide too"] == timedelta(seconds=20)
    assert begun["narrow"] >= timedelta(seconds=80)


def test_another_key_another_tenants_key_and_no_key_do_not_wait(syncs):
    syncs.schedule("one")
    syncs.schedule("another key", key="customer:43")
    syncs.schedule("another tenant", scheduler=syncs.cloud.scheduler_for("globex"))
    syncs.cloud.scheduler.schedule(Sync(name="no key"), at=NOW)
    syncs.advance(HOUR)
    assert {at for _, at, _ in syncs.spans} == {NOON}
    assert syncs.most == 4


def test_a_run_without_a_slot_has_no_attempt_and_no_recovery(syncs):
    syncs.schedule("long", lasts=5 * HOUR)
    waits, seen = syncs.schedule("waits", at=timedelta(seconds=1)), []
    store = syncs.cloud.memory.store
    looks = store.holders
    store.holders = lambda *key: seen.append(syncs.cloud.now - NOON) or looks(*key)
    syncs.advance(6 * HOUR)
    after = syncs.now_of(waits)
    assert (after.status, after.attempt, after.recoveries, len(after.attempts)) == (Status.EXECUTED, 1, 0, 1)
    assert 300 < len(seen) < 700
    assert max(later - sooner for sooner, later in pairwise(seen)) <= timedelta(seconds=76)
    (_, begun, _) = syncs.spans[-1]
    assert timedelta(0) <= begun - NOON - 5 * HOUR <= timedelta(seconds=75)


def test_a_waiting_action_stays_pending_and_unchanged(syncs):
    states = []
    syncs.schedule("long", lasts=HOUR)
    waits = syncs.schedule("waits")
    syncs.cloud.scheduler.schedule(Sync(name="x", lasts=NOW), at=30 * MINUTE)
    store = syncs.cloud.memory.store
    looks = store.holders
    store.holders = lambda *key: states.append(store.get(waits.ref)) or looks(*key)
    syncs.advance(50 * MINUTE)
    pending = [state for state in states if state.status is Status.PENDING and state.id == waits.id]
    assert pending
    assert set(pending) == {waits}


def test_a_retry_frees_the_slot_while_it_waits(syncs):
    first = syncs.schedule("fails", fails=1)
    syncs.schedule("next", at=timedelta(seconds=10))
    syncs.advance(3 * HOUR)
    names = [name for name, _, _ in sorted(syncs.spans, key=lambda span: span[1])]
    assert names == ["fails", "next", "fails"]
    assert (syncs.now_of(first).status, syncs.now_of(first).attempt) == (Status.EXECUTED, 2)


def test_one_that_is_cancelled_while_it_waits_never_runs(syncs):
    syncs.schedule("long", lasts=HOUR)
    waits = syncs.schedule("waits", at=timedelta(seconds=1))
    syncs.cloud.scheduler.cancel(waits.id)
    syncs.schedule("next", at=timedelta(seconds=2))
    syncs.advance(3 * HOUR)
    assert syncs.now_of(waits).status is Status.CANCELLED
    assert [name for name, _, _ in syncs.spans] == ["long", "next"]


def test_a_rescheduled_waiting_action_waits_for_its_new_time(syncs):
    syncs.schedule("long", lasts=HOUR)
    waits = syncs.schedule("waits", at=timedelta(seconds=1))
    syncs.cloud.scheduler.reschedule(waits.id, 5 * HOUR)
    syncs.advance(6 * HOUR)
    assert syncs.spans[-1][:2] == ("waits", NOON + 5 * HOUR)


@pytest.fixture
def mortal():
    """A recorder whose leases end after five minutes."""
    return SyncRecorder(settings=Settings())


def test_a_dead_runs_slot_is_freed_after_its_lease_and_its_late_settle_changes_nothing(mortal):
    dead = mortal.schedule("dies", dies=1)
    mortal.advance(MINUTE)
    held = mortal.now_of(dead)
    mortal.schedule("next", lasts=timedelta(seconds=1))
    mortal.advance(3 * MINUTE)
    assert [name for name, _, _ in mortal.spans] == ["dies"]
    mortal.advance(HOUR)
    begun = {name: at - NOON for name, at, _ in mortal.spans}
    assert timedelta(minutes=5) <= begun["next"] <= timedelta(minutes=7)
    again = mortal.now_of(dead)
    assert (again.status, again.attempt, again.recoveries) == (Status.EXECUTED, 1, 1)
    settle_cancelled(mortal.cloud.memory, held)
    assert mortal.now_of(dead) == again
    assert mortal.most == 1


def test_an_evicted_run_settles_nothing_and_frees_no_slot(mortal):
    dead = mortal.schedule("dies", dies=1)
    mortal.advance(MINUTE)
    held, store = mortal.now_of(dead), mortal.cloud.memory.store
    assert store.evict(held.tenant_id, KEY, held.id, held)
    mortal.schedule("next", dies=1)
    mortal.advance(timedelta(seconds=1))
    holders = store.holders(held.tenant_id, KEY)
    settle_cancelled(mortal.cloud.memory, held)
    assert mortal.now_of(dead).status is Status.PROCESSING
    assert store.holders(held.tenant_id, KEY) == holders != frozenset({held.id})


def test_a_run_that_is_redriven_takes_a_slot_again(syncs):
    action = syncs.schedule("fails", fails=3, lasts=NOW)
    syncs.advance(3 * HOUR)
    assert syncs.now_of(action).status is Status.FAILED
    syncs.schedule("long", lasts=HOUR)
    syncs.cloud.scheduler.redrive(action.id, at=timedelta(seconds=1))
    syncs.advance(4 * HOUR)
    assert syncs.most == 1
    assert syncs.now_of(action).attempt > 3


def test_an_older_message_without_the_key_is_handled(syncs):
    send = syncs.cloud.memory.queues.send
    syncs.cloud.memory.queues.send = lambda sends: send(
        [replace(send, message=replace(send.message, is_keyed=False)) for send in sends]
    )
    for name in "abc":
        syncs.schedule(name)
    syncs.advance(HOUR)
    assert sorted(name for name, _, _ in syncs.spans) == [*"abc"]
    assert syncs.most == 1


def test_many_are_scheduled_with_their_keys(syncs):
    orders = [Order(payload=Sync(name=name), at=NOW, concurrency_key=KEY) for name in "abc"]
    assert {action.concurrency_key for action in syncs.cloud.scheduler.schedule_many(orders)} == {KEY}
    syncs.advance(HOUR)
    assert syncs.most == 1
    assert len(syncs.spans) == 3


@pytest.mark.parametrize(
    "arguments",
    [{"concurrency_key": ""}, {"concurrency_key": KEY, "concurrency_limit": 0}, {"concurrency_limit": 2}],
)
def test_an_invalid_key_or_limit_schedules_nothing(syncs, arguments):
    with pytest.raises(InvalidIdentifier):
        syncs.cloud.scheduler.schedule(Sync(name="a"), at=NOW, **arguments)
    assert syncs.cloud.actions() == ()
