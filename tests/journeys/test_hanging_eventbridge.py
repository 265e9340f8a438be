"""EventBridge hangs, fails or is slow: nothing else waits for it."""

from datetime import timedelta

import pytest

from duetime.errors import BackendUnavailable, QueueMissing, TimerQuotaReached
from duetime.jobs.maintain import MaintainDueJobs
from duetime.jobs.plan import Planned
from duetime.jobs.trusted_reading import KnownPauses
from duetime.memory.notes import MemoryBookmarks, MemoryRoutes
from duetime.memory.wakes import MemoryTimers
from duetime.model.change import Change
from duetime.model.job import JobRef
from duetime.model.new_action import new_action
from duetime.ports.circuit_breaker import PAUSE
from duetime.ports.work_pauses import NoWorkPauses
from duetime.testing import SimulatedCloud
from duetime.wakeups.arm import TIMER_TIME, WITHOUT_TIMERS, Arm
from duetime.wakeups.due_messages import message_of, send_wakes
from duetime.wakeups.wheel import BOOKMARK
from tests.api.deployment import Hooked
from tests.backends import backends
from tests.journeys.conftest import NOON, Charge
from tests.journeys.recording_queue import RecordingQueue

SECOND, HOUR = timedelta(seconds=1), timedelta(hours=1)


class Timers(MemoryTimers):
    """Timers whose calls take a time, and may fail after it."""

    def __init__(self, clock):
        super().__init__()
        self.clock, self.takes, self.is_failing, self.tried = clock, timedelta(0), False, []
        self.most = None

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
        if self.most is not None and len(self.tried) > self.most:
            raise TimeoutError("Lambda ends the function")
        if self.is_failing:
            raise BackendUnavailable("EventBridge Scheduler", "Read timeout")


@pytest.fixture
def timers(clock):
    return Timers(clock)


@pytest.fixture
def hanging(timers):
    timers.takes, timers.is_failing = 5 * SECOND, True


@pytest.fixture
def bookmarks():
    return MemoryBookmarks()


@pytest.fixture
def stuck():
    """The texts that arm reported."""
    return []


@pytest.fixture
def arm(clock, queue, timers, bookmarks, stuck):
    over = backends(queues=queue, timers=timers, bookmarks=bookmarks, clock=clock)
    return Arm(over, report_stuck=stuck.append)


def put(clock, *delays):
    return [
        new_action(
            Charge(), due_at=clock.now() + delay, now=clock.now(), tenant_id="acme", actor="t",
            correlation_id=None, due_shards=16,
        )
        for delay in delays
    ]  # fmt: skip


def raises(error):
    raise error


def batch(actions):
    return [Change(None, action) for action in actions]


@pytest.mark.usefixtures("hanging")
def test_a_near_action_behind_a_hundred_far_ones_is_sent_before_it_is_due(
    arm, clock, queue, timers, bookmarks
):
    far, [near] = put(clock, *[HOUR] * 100), put(clock, 30 * SECOND)
    arm(batch(far))
    arm(batch([near]))  # the next batch of the shard
    assert clock.now() < near.due_at
    assert queue.sent == [*(action.id for action in far[:2]), near.id]
    assert len(timers.tried) == 3
    assert bookmarks.read(WITHOUT_TIMERS)  # the wheel has the others


def test_the_near_actions_of_a_batch_are_sent_before_the_first_call_of_eventbridge(arm, clock, queue, timers):
    timers.most, (far, near) = 0, put(clock, HOUR, 30 * SECOND)
    with pytest.raises(TimeoutError):
        arm(batch([far, near]))
    assert queue.sent == [near.id]


def test_a_full_group_of_timers_and_a_missing_queue_are_reported(arm, clock, queue, timers, stuck):
    timers.set = lambda *_given: raises(TimerQuotaReached("EventBridge Scheduler", "its quota is used up"))
    queue.missing = "default"
    arm(batch(put(clock, HOUR, 30 * SECOND)))
    assert ["no queue is named 'default'" in text for text in stuck] == [True, False]
    assert "its quota is used up" in stuck[1]


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


def test_slow_timers_are_set_for_twenty_seconds_the_soonest_first(arm, clock, timers, bookmarks):
    timers.takes = SECOND
    rows = put(clock, *(HOUR * number for number in range(40, 0, -1)))
    arm(batch(rows))
    assert clock.now() - NOON == TIMER_TIME
    soonest = [action.id for action in reversed(rows)]
    assert timers.tried == soonest[:20]
    assert bookmarks.read(WITHOUT_TIMERS)


def test_a_batch_ends_in_the_time_of_its_function(arm, clock, timers, bookmarks):
    timers.takes = SECOND
    arm(batch(put(clock, *[HOUR] * 40)), stop_at=clock.now() + 5 * SECOND)
    assert len(timers) == 5
    assert bookmarks.read(WITHOUT_TIMERS)


def test_arm_sets_timers_before_it_clears_former_ones(arm, clock, timers):
    former, new = put(clock, HOUR, 2 * HOUR)
    arm([Change(former, None), *batch([new])])
    assert timers.tried == [new.id, former.id]


def test_arm_set_wakes_sends_the_near_actions_and_sets_timers_of_the_far_ones(arm, clock, queue, timers):
    far, near = put(clock, HOUR, 30 * SECOND)
    assert arm.set_wakes([far, near], stop_at=clock.now() + TIMER_TIME) == ([], [])
    assert (queue.sent, timers.tried) == ([near.id], [far.id])


def test_a_batch_whose_timers_are_set_leaves_nothing_to_the_wheel(arm, clock, timers, bookmarks):
    arm(batch(put(clock, HOUR, 30 * SECOND)))
    assert len(timers) == 1
    assert not bookmarks.read(WITHOUT_TIMERS)


@pytest.mark.usefixtures("hanging")
def test_a_hundred_cancels_do_not_wait_for_eventbridge(arm, clock, timers):
    far = put(clock, *[HOUR] * 100)
    arm([Change(action, None) for action in far])
    assert clock.now() - NOON <= 3 * timers.takes


def full(error=TimerQuotaReached):
    def refuse(_set, _message, _wake_at):
        raise error("EventBridge Scheduler", "the quota is reached")

    return refuse


@pytest.mark.parametrize("hours", [2, 30])
def test_at_the_quota_of_timers_far_actions_run_on_time_and_none_hops(shop, hours):
    cloud = SimulatedCloud(shop.app, start=NOON)
    timers = Hooked(cloud.memory.timers)
    timers.hooks["set"] = full()
    cloud.memory.steps.arm._timers, sent = timers, []
    send = cloud.memory.queues.send
    cloud.memory.queues.send = lambda sends: (sent.extend(sends), send(sends))
    for number in range(5):
        cloud.scheduler_for("acme").schedule(Charge(order=f"o-{number}"), at=HOUR * hours)
    cloud.advance(HOUR * (hours + 1))
    assert sorted(shop.charged) == [(f"o-{number}", NOON + HOUR * hours) for number in range(5)]
    assert len(sent) == 5


def test_timers_are_set_side_by_side_after_a_success_and_one_by_one_after_a_failure(clock, timers):
    groups = []

    def side_by_side(function, actions):
        groups.append(len(actions))
        return map(function, actions)

    def once_failing():
        if len(timers.tried) == 4:
            raise BackendUnavailable("EventBridge Scheduler", "throttled")

    timers._answer = once_failing
    over = backends(queues=RecordingQueue(clock), timers=timers, clock=clock)
    Arm(over, parallel_map=side_by_side)(batch(put(clock, *[HOUR] * 20)))
    assert groups == [1, 8, 1, 8, 2]
    assert len(timers) == 19


def test_when_there_is_room_again_the_timers_are_set_and_the_wheel_rests(shop):
    cloud = SimulatedCloud(shop.app, start=NOON)
    timers = Hooked(cloud.memory.timers)
    timers.hooks["set"] = full()
    cloud.memory.steps.arm._timers = timers
    for number in range(5):
        cloud.scheduler_for("acme").schedule(Charge(order=f"o-{number}"), at=HOUR * 3 + HOUR * number)
    cloud.advance(HOUR)
    assert len(cloud.memory.timers) == 0
    timers.hooks.clear()
    cloud.scheduler_for("acme").schedule(Charge(order="soon"), at=HOUR)
    cloud.advance(2 * HOUR + HOUR / 4)
    assert len(cloud.memory.timers) == 4
    assert cloud.memory.bookmarks.read(BOOKMARK) == {}
    cloud.advance(6 * HOUR)
    assert [order for order, _ in shop.charged] == ["soon", *(f"o-{number}" for number in range(5))]


def test_maintain_sets_no_wakes_of_jobs_after_the_end_of_its_pass(clock):
    ref, called = JobRef("acme", "press"), []

    class Slow:
        """Plans until the pass is over."""

        def plan(self, _ref):
            clock.wait_until(clock.now() + 10 * SECOND)
            return Planned(1)

        def set_wakes(self, ref):
            called.append(ref)
            return True

    class Jobs:
        def due_for_maintenance(self, *_, **__):
            return [ref], None

    over = backends(jobs=Jobs(), clock=clock)
    maintain = MaintainDueJobs(over, Slow(), pauses=KnownPauses(NoWorkPauses(), clock))
    result = maintain(stop_at=clock.now() + 5 * SECOND)
    assert (called, result.maintained, result.planned) == ([], 0, 1)
    assert maintain(stop_at=clock.now() + 15 * SECOND).maintained == 1
    assert called == [ref]


def test_send_wakes_calls_a_missing_queue_once_for_all_its_messages(clock):
    calls = []

    class Missing:
        def send(self, sends):
            calls.append(len(sends))
            raise QueueMissing("SQS", "no queue is named 'default'", "Deploy again")

    messages = [message_of(action) for action in put(clock, *[SECOND] * 25)]
    (aside,) = send_wakes(messages, Missing(), MemoryRoutes([]), clock)
    assert (len(calls), aside.number) == (1, 25)
