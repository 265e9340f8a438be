"""The hand-over from the wheel to EventBridge keeps its progress and its stop time; nothing runs late."""

from dataclasses import replace
from datetime import timedelta

import pytest

from duetime.memory.notes import MemoryBookmarks, MemoryRoutes
from duetime.memory.store import MemoryStore
from duetime.model.new_action import new_action
from duetime.settings import Settings
from duetime.testing import TurnedClock
from duetime.wakeups.arm import Arm
from duetime.wakeups.due_scanner import DueScanner
from duetime.wakeups.wheel import Rearm, Wheel
from tests.journeys.conftest import NOON, Charge
from tests.journeys.test_hanging_eventbridge import Timers
from tests.journeys.test_passes import Queue

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
A_PASS, A_TIMER = timedelta(seconds=50), timedelta(milliseconds=40)


@pytest.fixture
def clock():
    return TurnedClock(NOON)


@pytest.fixture
def store():
    return MemoryStore()


@pytest.fixture
def queue(clock):
    return Queue(clock)


@pytest.fixture
def timers(clock):
    return Timers(clock)


@pytest.fixture
def bookmarks():
    return MemoryBookmarks()


@pytest.fixture
def steps(store, queue, timers, bookmarks, clock):
    """Return a turn with the setting `wheel`, then a turn and a hand-over with the setting `eventbridge`."""
    routes, before, after = MemoryRoutes(), Settings(timers="wheel"), Settings()

    def wheel(settings):
        return Wheel(
            DueScanner(store, queue, routes, clock=clock, settings=settings),
            bookmarks,
            clock=clock,
            settings=settings,
        )

    arm = Arm(store, queue, timers, routes, bookmarks, clock=clock, settings=after)
    return wheel(before), wheel(after), Rearm(store, arm, bookmarks, clock=clock)


@pytest.fixture
def put(store, clock):
    def put_rows(*delays, shard="3"):
        made = []
        for delay in delays:
            action = new_action(
                Charge(), due_at=clock.now() + delay, now=clock.now(), tenant_id="acme", actor="t",
                correlation_id=None, due_shards=16,
            )  # fmt: skip
            store.put(replace(action, due_shard=shard))
            made.append(action.id)
        return made

    return put_rows


def test_a_shard_of_3000_rows_is_handed_over_in_several_passes_that_end_on_time(steps, put, clock, timers):
    last_turn, _, rearm = steps
    rows = put(*(HOUR + number * timedelta(seconds=1) for number in range(3_000)))
    last_turn(stop_at=clock.now() + A_PASS)
    timers.takes = A_TIMER
    for _ in range(3):
        begun = clock.now()
        rearm(stop_at=begun + A_PASS)
        assert clock.now() - begun < A_PASS + A_TIMER
        clock.wait_until(begun + MINUTE)
    assert len(timers) == len(rows)
    assert len(timers.tried) <= len(rows) + 2 * 25
    assert rearm(stop_at=clock.now() + A_PASS) == 0


def test_a_killed_pass_loses_one_page(steps, put, clock, timers):
    last_turn, _, rearm = steps
    rows = put(*(HOUR + number * timedelta(seconds=1) for number in range(1_000)))
    last_turn(stop_at=clock.now() + A_PASS)
    timers.takes, timers.most = A_TIMER, 550
    with pytest.raises(TimeoutError):
        rearm(stop_at=clock.now() + A_PASS)
    timers.most = None
    rearm(stop_at=clock.now() + A_PASS)
    assert len(timers) == len(rows)
    assert len(timers.tried) <= len(rows) + 26


def test_rows_that_wait_for_the_hand_over_are_sent_by_the_wheel(steps, put, clock, timers, queue):
    last_turn, turn, rearm = steps
    put(*[HOUR] * 400, shard="0")
    last_turn(stop_at=clock.now() + A_PASS)
    [soon] = put(20 * MINUTE, shard="9")
    timers.takes = timedelta(seconds=20)
    for _ in range(8):
        begun = clock.now()
        turn(stop_at=begun + A_PASS)
        rearm(stop_at=begun + A_PASS)
        clock.wait_until(begun + MINUTE)
    assert soon in queue.sent
    assert clock.now() < NOON + 20 * MINUTE


def test_a_hand_over_that_a_deploy_interrupted_begins_anew(steps, put, clock, timers):
    """Rows that came while the wheel had them all are not behind its cursor."""
    wheel, _, rearm = steps
    put(*[9 * HOUR] * 100)
    wheel(stop_at=clock.now() + A_PASS)
    timers.takes = timedelta(seconds=1)
    rearm(stop_at=clock.now() + A_PASS)
    wheel(stop_at=clock.now() + A_PASS)
    put(*[8 * HOUR] * 10)
    timers.takes = timedelta(0)
    rearm(stop_at=clock.now() + A_PASS)
    assert len(timers) == 110
