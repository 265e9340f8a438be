"""EventBridge hangs, fails or is slow: nothing else waits for it."""

from datetime import timedelta

import pytest

from duetime.errors import BackendUnavailable
from duetime.jobs.circuit_breaker import PAUSE
from duetime.memory.notes import MemoryRoutes
from duetime.memory.store import MemoryStore
from duetime.memory.wakes import MemoryTimers
from duetime.model.change import Change
from duetime.model.new_action import new_action
from duetime.settings import Settings
from duetime.testing import TurnedClock
from duetime.wakeups.arm import TIMER_TIME, Arm
from tests.journeys.conftest import NOON, Charge
from tests.journeys.test_passes import Queue

SECOND, HOUR = timedelta(seconds=1), timedelta(hours=1)


class Timers(MemoryTimers):
    """Timers whose calls take a time, and may fail after it."""

    def __init__(self, clock):
        super().__init__()
        self.clock, self.takes, self.is_failing, self.tried = clock, timedelta(0), False, []

    def set(self, message, wake_at):
        self.tried.append(message.ref.id)
        self._answer()
        super().set(message, wake_at)

    def clear(self, message):
        self.tried.append(message.ref.id)
        self._answer()
        super().clear(message)

    def _answer(self):
        self.clock.wait_until(self.clock.now() + self.takes)
        if self.is_failing:
            raise BackendUnavailable("EventBridge Scheduler", "Read timeout")


@pytest.fixture
def clock():
    return TurnedClock(NOON)


@pytest.fixture
def queue(clock):
    return Queue(clock)


@pytest.fixture
def timers(clock):
    return Timers(clock)


@pytest.fixture
def hanging(timers):
    timers.takes, timers.is_failing = 5 * SECOND, True


@pytest.fixture
def arm(clock, queue, timers):
    return Arm(MemoryStore(), queue, timers, MemoryRoutes([]), clock=clock, settings=Settings())


def put(clock, *delays):
    return [
        new_action(
            Charge(), due_at=clock.now() + delay, now=clock.now(), tenant_id="acme", actor="t",
            correlation_id=None, due_shards=16,
        )
        for delay in delays
    ]  # fmt: skip


def batch(actions):
    return [Change(None, action) for action in actions]


@pytest.mark.usefixtures("hanging")
def test_a_near_action_behind_a_hundred_far_ones_is_sent_before_it_is_due(arm, clock, queue, timers):
    far, [near] = put(clock, *[HOUR] * 100), put(clock, 30 * SECOND)
    arm(batch(far))
    arm(batch([near]))  # the next batch of the shard
    assert clock.now() < near.due_at
    assert queue.sent == [*(action.id for action in far), near.id]
    assert len(timers.tried) == 3


@pytest.mark.usefixtures("hanging")
def test_a_minute_later_one_call_tries_whether_eventbridge_responds_again(arm, clock, timers):
    arm(batch(put(clock, *[HOUR] * 10)))
    clock.wait_until(clock.now() + PAUSE)
    arm(batch(put(clock, *[HOUR] * 10)))
    assert len(timers.tried) == 4
    clock.wait_until(clock.now() + PAUSE)
    timers.is_failing, timers.takes = False, timedelta(0)
    arm(batch(put(clock, *[HOUR] * 10)))
    assert len(timers) == 10


def test_failures_with_successes_in_between_stop_no_call(arm, clock, timers, queue):
    rows = put(clock, *[HOUR] * 30)
    for number, action in enumerate(rows):
        timers.is_failing = number % 3 > 0
        arm(batch([action]))
    assert len(timers.tried) == 30
    assert len(queue.sent) == 20


def test_slow_timers_are_set_for_twenty_seconds_the_soonest_first_and_the_rest_hop(arm, clock, timers, queue):
    timers.takes = SECOND
    rows = put(clock, *(HOUR * number for number in range(40, 0, -1)))
    arm(batch(rows))
    assert clock.now() - NOON == TIMER_TIME
    soonest = [action.id for action in reversed(rows)]
    assert timers.tried == soonest[:20]
    assert queue.sent == soonest[20:]


def test_a_batch_ends_in_the_time_of_its_function(arm, clock, timers, queue):
    timers.takes = SECOND
    arm(batch(put(clock, *[HOUR] * 40)), stop_at=clock.now() + 5 * SECOND)
    assert (len(timers), len(queue.sent)) == (5, 35)


@pytest.mark.usefixtures("hanging")
def test_a_hundred_cancels_do_not_wait_for_eventbridge(arm, clock, timers):
    far = put(clock, *[HOUR] * 100)
    arm([Change(action, None) for action in far])
    assert clock.now() - NOON <= 3 * timers.takes
