"""Re-arming from the wheel to EventBridge keeps its progress and its stop time; nothing runs late."""

from dataclasses import replace
from datetime import timedelta

import pytest

from duetime.instant import text
from duetime.memory.notes import MemoryBookmarks
from duetime.model.new_action import new_action
from duetime.settings import Settings
from duetime.wakeups.arm import LATEST, WITHOUT_TIMERS
from duetime.wakeups.assembly import Steps
from duetime.wakeups.wheel import PAUSE
from tests.backends import backends
from tests.journeys.conftest import NOON, Charge
from tests.journeys.test_hanging_eventbridge import Timers

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
A_PASS, A_TIMER = timedelta(seconds=50), timedelta(milliseconds=40)


@pytest.fixture
def timers(clock):
    return Timers(clock)


@pytest.fixture
def bookmarks():
    return MemoryBookmarks()


@pytest.fixture
def steps(store, queue, timers, bookmarks, clock):
    """Return a turn with the setting `wheel`, then a turn and a re-arming with the setting `eventbridge`."""
    given = {"queues": queue, "timers": timers, "bookmarks": bookmarks, "clock": clock}
    before, after = (
        Steps(backends(store, settings=settings, **given))
        for settings in (Settings(timers="wheel"), Settings())
    )
    return before.wheel, after.wheel, after.rearm


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
    timers.takes, timers.most = A_TIMER, 574  # the last of a page fails
    with pytest.raises(TimeoutError):
        rearm(stop_at=clock.now() + A_PASS)
    timers.most = None
    rearm(stop_at=clock.now() + A_PASS)
    assert len(timers) == len(rows)
    assert len(timers.tried) == len(rows) + 25


def test_rows_that_wait_to_be_rearmed_are_sent_by_the_wheel(steps, put, clock, timers, queue):
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


def test_a_rearming_that_a_deploy_interrupted_begins_anew(steps, put, clock, timers):
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


def test_a_wheel_that_is_off_sends_nothing_and_goes_on_where_it_stopped(store, put, clock, queue, bookmarks):
    def turn(*, enabled):
        settings = Settings(timers="wheel", enabled=enabled)
        over = backends(store, queues=queue, bookmarks=bookmarks, clock=clock, settings=settings)
        Steps(over).wheel(stop_at=clock.now() + A_PASS)
        return queue.sent

    [soon] = put(10 * MINUTE)
    assert turn(enabled=False) == []
    clock.wait_until(NOON + HOUR)
    assert turn(enabled=True) == [soon]


def test_with_timers_a_wheel_that_is_off_costs_no_write(store, queue, bookmarks, clock):
    settings = Settings(enabled=False)
    over = backends(store, queues=queue, bookmarks=bookmarks, clock=clock, settings=settings)
    bookmarks.write = lambda *given: pytest.fail(f"it writes {given}")
    Steps(over).wheel(stop_at=clock.now() + A_PASS)


class Dying:
    """A process that ends at its n-th effect."""

    def __init__(self, after):
        self.left = after

    def at(self, effect):
        def call(*given):
            self.left -= 1
            if self.left == -1:
                raise TimeoutError("Lambda ends the function")
            effect(*given)

        return call


@pytest.mark.parametrize("after", range(4))
def test_a_turn_that_dies_while_the_wheel_begins_to_stand_in_is_made_good(
    steps, put, queue, bookmarks, after
):
    (_, turn, _), dying = steps, Dying(after)
    [soon] = put(10 * MINUTE)
    bookmarks.write(WITHOUT_TIMERS, {LATEST: text(NOON)})
    bookmarks.write, queue.send = dying.at(bookmarks.write), dying.at(queue.send)
    with pytest.raises(TimeoutError):
        turn(stop_at=NOON + A_PASS)
    turn(stop_at=NOON + A_PASS)
    assert soon in queue.sent


def test_rearming_tries_no_timer_before_the_pause_is_over(steps, put, clock, timers, bookmarks):
    _, turn, rearm = steps
    put(HOUR)
    bookmarks.write(WITHOUT_TIMERS, {LATEST: text(clock.now())})
    turn(stop_at=clock.now() + A_PASS)
    timers.is_failing, tried = True, []
    for wait in (timedelta(0), PAUSE, MINUTE, PAUSE):
        clock.wait_until(clock.now() + wait)
        rearm(stop_at=clock.now() + A_PASS)
        tried.append(len(timers.tried))
    assert tried == [0, 1, 1, 2]
