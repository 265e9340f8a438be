"""Concurrency keys in simulated time: not too many at once."""

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import pytest

from duetime import App, Order, Payload, Retry, RetryPolicy, Run, Status
from duetime.errors import InvalidArgument
from duetime.model import slots
from duetime.model.slots import SlotMove
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
    assert sorted(name for name, _, _ in syncs.spans) == [*"abcd"]
    assert syncs.most == 1
    assert all(then == ended for (_, _, ended), (_, then, _) in pairwise(syncs.spans))


def test_a_slot_goes_to_the_action_that_has_waited_longest(syncs):
    for number in range(12):
        syncs.schedule(f"{number:02}", at=timedelta(seconds=number))
    syncs.advance(HOUR)
    assert [name for name, _, _ in syncs.spans] == [f"{number:02}" for number in range(12)]


def test_an_action_that_waits_has_one_more_message_and_one_check_of_its_own(syncs):
    sent = []
    send = syncs.cloud.memory.queues.send
    syncs.cloud.memory.queues.send = lambda sends: sent.extend(sends) or send(sends)
    waiting = [syncs.schedule(f"{number:02}", lasts=timedelta(seconds=10)) for number in range(30)][1:]
    syncs.advance(HOUR)
    assert len(syncs.spans) == 30
    messages = [sum(one.message.ref == action.ref for one in sent) for action in waiting]
    assert max(messages) <= 4  # when it is due, its check, its wake, and one of the sweep


def test_a_full_line_takes_others_as_soon_as_it_has_room(syncs, monkeypatch):
    monkeypatch.setattr(slots, "MOST_WAITING", 3)
    for number in range(12):
        syncs.schedule(f"{number:02}", lasts=timedelta(seconds=30))
    syncs.advance(HOUR)
    assert sorted(name for name, _, _ in syncs.spans) == [f"{number:02}" for number in range(12)]
    assert syncs.most == 1


def test_a_slot_goes_from_run_to_run_along_a_line_of_any_length_in_the_order_of_due_times(syncs):
    """The first run lasts until all others are in line; then no moment is idle."""
    syncs.schedule("first", lasts=5 * MINUTE)
    for number in range(200):
        syncs.schedule(f"{number:03}", at=timedelta(seconds=1 + number), lasts=timedelta(seconds=1))
    syncs.advance(HOUR)
    assert [name for name, _, _ in syncs.spans] == ["first", *(f"{number:03}" for number in range(200))]
    assert all(then == ended for (_, _, ended), (_, then, _) in pairwise(syncs.spans))
    slots = syncs.cloud.memory.store.key_slots("acme", KEY)
    assert (slots.holders, slots.waiting, slots.has_tail) == ({}, (), False)
    assert not syncs.cloud.memory.store.tail("acme", KEY, limit=1)


def test_a_slot_is_passed_over_those_that_wait_no_more(syncs):
    syncs.schedule("long")
    rest = {name: syncs.schedule(name, at=timedelta(seconds=1)) for name in ("cancelled", "later", "next")}
    store = syncs.cloud.memory.store
    join, joined = store.wait_for_slot, []

    def joining(row, slots):
        joined.append(row.id)
        is_in = join(row, slots)
        if row.id == rest["next"].id:
            syncs.cloud.scheduler.cancel(rest["cancelled"].id)
            syncs.cloud.scheduler.reschedule(rest["later"].id, HOUR)
        return is_in

    store.wait_for_slot = joining
    syncs.advance(2 * HOUR)
    assert joined == [row.id for row in rest.values()]
    begun = [(name, at - NOON) for name, at, _ in syncs.spans]
    assert begun[1:] == [("next", MINUTE), ("later", HOUR + timedelta(seconds=1))]


@pytest.mark.parametrize("change", ["cancel", "reschedule"])
def test_a_holder_that_does_not_run_passes_its_slot_on(syncs, change):
    """A caller changes it when the slot has been passed to it, and its message is under way."""
    syncs.schedule("long")
    chosen, _ = (
        syncs.schedule("chosen", at=timedelta(seconds=1)),
        syncs.schedule("next", at=timedelta(seconds=2)),
    )
    move = syncs.cloud.memory.store.move_slots

    def changing(moved):
        is_done = move(moved)
        if chosen.id in moved.holders:
            scheduler = syncs.cloud.scheduler
            scheduler.cancel(chosen.id) if change == "cancel" else scheduler.reschedule(chosen.id, HOUR)
        return is_done

    syncs.cloud.memory.store.move_slots = changing
    syncs.advance(30 * MINUTE)
    assert [(name, at - NOON) for name, at, _ in syncs.spans] == [("long", NOW), ("next", MINUTE)]
    assert syncs.cloud.memory.store.key_slots("acme", KEY).holders == {}


def test_an_action_that_expires_while_it_waits_passes_its_slot_on(syncs):
    syncs.schedule("long", lasts=HOUR)
    expiring = syncs.cloud.scheduler.schedule(
        Sync(name="expiring"), at=timedelta(seconds=1), concurrency_key=KEY, expires_after=30 * MINUTE
    )
    syncs.schedule("next", at=timedelta(seconds=2))
    syncs.advance(2 * HOUR)
    assert syncs.now_of(expiring).status is Status.SKIPPED
    assert [(name, at - NOON) for name, at, _ in syncs.spans][1:] == [("next", HOUR)]


def test_a_run_whose_process_dies_before_it_passes_its_slot_on_delays_the_next_by_its_message(syncs):
    syncs.schedule("first")
    syncs.schedule("next", at=timedelta(seconds=1))
    store = syncs.cloud.memory.store
    reads, seen = store.key_slots, []

    def dying(*key):
        if syncs.cloud.actions(Status.EXECUTED) and not seen:
            seen.append(key)
            raise Killed
        return reads(*key)

    store.key_slots = dying
    syncs.advance(30 * MINUTE)
    assert seen
    assert [name for name, _, _ in syncs.spans] == ["first", "next"]
    assert store.key_slots("acme", KEY).holders == {}


def test_a_holder_whose_wake_was_lost_begins_with_its_next_message(syncs):
    syncs.schedule("first")
    syncs.schedule("next", at=timedelta(seconds=1))
    send = syncs.cloud.memory.queues.send

    def losing(sends):
        send([one for one in sends if one.delay or not syncs.cloud.actions(Status.EXECUTED)])

    syncs.cloud.memory.queues.send = losing
    syncs.advance(30 * MINUTE)
    begun = {name: at - NOON for name, at, _ in syncs.spans}
    assert MINUTE < begun["next"] <= timedelta(minutes=7)


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
    looks = store.key_slots
    store.key_slots = lambda *key: seen.append(syncs.cloud.now - NOON) or looks(*key)
    syncs.advance(6 * HOUR)
    after = syncs.now_of(waits)
    assert (after.status, after.attempt, after.recoveries, len(after.attempts)) == (Status.EXECUTED, 1, 0, 1)
    assert 20 < len(seen) < 60
    assert max(later - sooner for sooner, later in pairwise(seen)) <= timedelta(minutes=15, seconds=1)
    (_, begun, _) = syncs.spans[-1]
    assert begun == NOON + 5 * HOUR


def test_a_waiting_action_stays_pending_and_unchanged(syncs):
    states = []
    syncs.schedule("long", lasts=HOUR)
    waits = syncs.schedule("waits")
    syncs.cloud.scheduler.schedule(Sync(name="x", lasts=NOW), at=30 * MINUTE)
    store = syncs.cloud.memory.store
    looks = store.key_slots
    store.key_slots = lambda *key: states.append(store.get(waits.ref)) or looks(*key)
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
    repeated, longest_wait = MINUTE, timedelta(seconds=75)  # the dead run may be repeated first
    assert timedelta(minutes=5) <= begun["next"] <= timedelta(minutes=5, seconds=10) + repeated + longest_wait
    again = mortal.now_of(dead)
    assert (again.status, again.attempt, again.recoveries) == (Status.EXECUTED, 1, 1)
    settle_cancelled(mortal.cloud.memory, held)
    assert mortal.now_of(dead) == again
    assert mortal.most == 1


def test_an_evicted_run_settles_nothing_and_frees_no_slot(mortal):
    dead = mortal.schedule("dies", dies=1)
    mortal.advance(MINUTE)
    held, store = mortal.now_of(dead), mortal.cloud.memory.store
    assert store.evict(
        SlotMove(before=store.key_slots("acme", KEY), freed=held.id, at=mortal.cloud.now), held
    )
    mortal.schedule("next", dies=1)
    mortal.advance(timedelta(seconds=1))
    holders = store.key_slots("acme", KEY).holders
    settle_cancelled(mortal.cloud.memory, held)
    assert mortal.now_of(dead).status is Status.PROCESSING
    assert store.key_slots("acme", KEY).holders == holders
    assert holders.keys() != {held.id}


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
    assert {action.slot_key for action in syncs.cloud.scheduler.schedule_many(orders)} == {KEY}
    syncs.advance(HOUR)
    assert syncs.most == 1
    assert len(syncs.spans) == 3


@pytest.mark.parametrize(
    "arguments",
    [{"concurrency_key": ""}, {"concurrency_key": KEY, "concurrency_limit": 0}, {"concurrency_limit": 2}],
)
def test_an_invalid_key_or_limit_schedules_nothing(syncs, arguments):
    with pytest.raises(InvalidArgument, match="concurrency"):
        syncs.cloud.scheduler.schedule(Sync(name="a"), at=NOW, **arguments)
    assert syncs.cloud.actions() == ()
