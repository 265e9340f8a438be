"""Concurrency keys in simulated time: not too many at once."""

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import pytest

from duetime import App, Order, Payload, Retry, RetryPolicy, Run, Status
from duetime.errors import InvalidIdentifier
from duetime.settings import Settings
from duetime.testing import SimulatedCloud
from tests.journeys.conftest import NOON
from tests.journeys.late_settles import settle_cancelled
from tests.journeys.recorded_job import PATIENT

KEY = "customer:42"
NOW, MINUTE, HOUR = timedelta(0), timedelta(minutes=1), timedelta(hours=1)


class Killed(BaseException):
    """Stands for a Lambda that was ended in the middle of a run."""


class Sync(Payload):
    name: str
    lasts: timedelta = MINUTE
    fails: int = 0
    dies: int = 0


class Desk:
    """An app whose handler takes its time, and tells who ran when; it may fail, or die, at first."""

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
def desk(request):
    return Desk(request.param)


def test_with_a_limit_of_one_they_run_one_after_the_other(desk):
    for name in "abcd":
        desk.schedule(name)
    desk.advance(HOUR)
    spans = sorted(desk.spans, key=lambda span: span[1])
    assert sorted(name for name, _, _ in spans) == [*"abcd"]
    assert desk.most == 1
    assert all(
        timedelta(0) <= then - ended <= timedelta(seconds=75)
        for (_, _, ended), (_, then, _) in pairwise(spans)
    )


def test_with_a_limit_of_two_two_run_at_once(desk):
    for name in "abcdef":
        desk.schedule(name, limit=2)
    desk.advance(HOUR)
    assert len(desk.spans) == 6
    assert desk.most == 2


def test_each_begins_while_fewer_than_its_own_limit_run(desk):
    desk.schedule("wide", limit=2)
    desk.schedule("narrow", at=timedelta(seconds=10))
    desk.schedule("wide too", at=timedelta(seconds=20), limit=2)
    desk.advance(HOUR)
    begun = {name: at - NOON for name, at, _ in desk.spans}
    assert begun["wide too"] == timedelta(seconds=20)
    assert begun["narrow"] >= timedelta(seconds=80)


def test_another_key_another_tenants_key_and_no_key_do_not_wait(desk):
    desk.schedule("one")
    desk.schedule("another key", key="customer:43")
    desk.schedule("another tenant", scheduler=desk.cloud.scheduler_for("globex"))
    desk.cloud.scheduler.schedule(Sync(name="no key"), at=NOW)
    desk.advance(HOUR)
    assert {at for _, at, _ in desk.spans} == {NOON}
    assert desk.most == 4


def test_a_run_without_a_slot_has_no_attempt_and_no_recovery(desk):
    desk.schedule("long", lasts=5 * HOUR)
    waits, seen = desk.schedule("waits", at=timedelta(seconds=1)), []
    store = desk.cloud.memory.store
    looks = store.holders
    store.holders = lambda *key: seen.append(desk.cloud.now - NOON) or looks(*key)
    desk.advance(6 * HOUR)
    after = desk.now_of(waits)
    assert (after.status, after.attempt, after.recoveries, len(after.attempts)) == (Status.EXECUTED, 1, 0, 1)
    assert 300 < len(seen) < 700
    (_, begun, _) = desk.spans[-1]
    assert timedelta(0) <= begun - NOON - 5 * HOUR <= timedelta(seconds=75)


def test_what_waits_is_pending_as_it_was_scheduled(desk):
    states = []
    desk.schedule("long", lasts=HOUR)
    waits = desk.schedule("waits")
    desk.cloud.scheduler.schedule(Sync(name="x", lasts=NOW), at=30 * MINUTE)
    store = desk.cloud.memory.store
    looks = store.holders
    store.holders = lambda *key: states.append(store.get(waits.ref)) or looks(*key)
    desk.advance(50 * MINUTE)
    pending = [state for state in states if state.status is Status.PENDING and state.id == waits.id]
    assert pending
    assert set(pending) == {waits}


def test_a_retry_frees_the_slot_while_it_waits(desk):
    first = desk.schedule("fails", fails=1)
    desk.schedule("next", at=timedelta(seconds=10))
    desk.advance(3 * HOUR)
    names = [name for name, _, _ in sorted(desk.spans, key=lambda span: span[1])]
    assert names == ["fails", "next", "fails"]
    assert (desk.now_of(first).status, desk.now_of(first).attempt) == (Status.EXECUTED, 2)


def test_one_that_is_cancelled_while_it_waits_never_runs(desk):
    desk.schedule("long", lasts=HOUR)
    waits = desk.schedule("waits", at=timedelta(seconds=1))
    desk.cloud.scheduler.cancel(waits.id)
    desk.schedule("next", at=timedelta(seconds=2))
    desk.advance(3 * HOUR)
    assert desk.now_of(waits).status is Status.CANCELLED
    assert [name for name, _, _ in desk.spans] == ["long", "next"]


def test_one_that_is_put_to_later_while_it_waits_waits_for_its_new_time(desk):
    desk.schedule("long", lasts=HOUR)
    waits = desk.schedule("waits", at=timedelta(seconds=1))
    desk.cloud.scheduler.reschedule(waits.id, 5 * HOUR)
    desk.advance(6 * HOUR)
    assert desk.spans[-1][:2] == ("waits", NOON + 5 * HOUR)


@pytest.fixture
def mortal():
    """A desk whose leases end after five minutes."""
    return Desk(settings=Settings())


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


def test_a_run_that_is_redriven_takes_a_slot_again(desk):
    action = desk.schedule("fails", fails=3, lasts=NOW)
    desk.advance(3 * HOUR)
    assert desk.now_of(action).status is Status.FAILED
    desk.schedule("long", lasts=HOUR)
    desk.cloud.scheduler.redrive(action.id, at=timedelta(seconds=1))
    desk.advance(4 * HOUR)
    assert desk.most == 1
    assert desk.now_of(action).attempt > 3


def test_a_message_of_an_older_arm_that_does_not_speak_of_the_key_is_handled_as_well(desk):
    send = desk.cloud.memory.queues.send
    desk.cloud.memory.queues.send = lambda sends: send(
        [replace(send, message=replace(send.message, is_keyed=False)) for send in sends]
    )
    for name in "abc":
        desk.schedule(name)
    desk.advance(HOUR)
    assert sorted(name for name, _, _ in desk.spans) == [*"abc"]
    assert desk.most == 1


def test_many_are_scheduled_with_their_keys(desk):
    orders = [Order(payload=Sync(name=name), at=NOW, concurrency_key=KEY) for name in "abc"]
    assert {action.concurrency_key for action in desk.cloud.scheduler.schedule_many(orders)} == {KEY}
    desk.advance(HOUR)
    assert desk.most == 1
    assert len(desk.spans) == 3


@pytest.mark.parametrize(
    "arguments",
    [{"concurrency_key": ""}, {"concurrency_key": KEY, "concurrency_limit": 0}, {"concurrency_limit": 2}],
)
def test_an_invalid_key_or_limit_schedules_nothing(desk, arguments):
    with pytest.raises(InvalidIdentifier):
        desk.cloud.scheduler.schedule(Sync(name="a"), at=NOW, **arguments)
    assert desk.cloud.actions() == ()
