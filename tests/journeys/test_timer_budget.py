"""Arm sets few timers; the wheel, which costs less for many, has the far actions of a busy deployment."""

from contextlib import suppress
from datetime import timedelta

import pytest

from duetime.errors import BackendUnavailable, TimerQuotaReached
from duetime.instant import text
from duetime.memory.notes import MemoryBookmarks
from duetime.memory.wakes import MemoryTimers
from duetime.model.change import Change
from duetime.testing import Faults, SimulatedCloud
from duetime.wakeups import arm as arm_module
from duetime.wakeups import wheel
from duetime.wakeups.arm import LATEST, LULL, PERIOD, TOO_MANY, WITHOUT_TIMERS, Arm
from duetime.wakeups.wheel import BOOKMARK, Rearm
from tests.backends import backends
from tests.journeys.conftest import NOON, Charge
from tests.journeys.recording_queue import RecordingQueue
from tests.journeys.test_hanging_eventbridge import put, raises

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@pytest.fixture
def bookmarks():
    return MemoryBookmarks()


@pytest.fixture
def timers():
    return MemoryTimers()


@pytest.fixture
def make_arm(clock, bookmarks, timers):
    over = backends(queues=RecordingQueue(clock), timers=timers, bookmarks=bookmarks, clock=clock)
    return lambda most_timers=3: Arm(over, most_timers=most_timers)


@pytest.fixture
def arm(make_arm):
    return make_arm()


def armed(arm, clock, *delays):
    arm([Change(None, action) for action in put(clock, *delays)])


def test_after_a_few_timers_all_far_actions_are_the_wheels(arm, clock, timers, bookmarks):
    armed(arm, clock, HOUR, HOUR, HOUR / 60)
    assert (len(timers), bookmarks.read(WITHOUT_TIMERS)) == (2, {})
    for _ in range(2):
        armed(arm, clock, HOUR, HOUR)
        assert len(timers) == 2
        assert bookmarks.read(WITHOUT_TIMERS)
        clock.wait_until(clock.now() + PERIOD)


def test_the_bookmark_is_written_once_a_minute(arm, clock, bookmarks):
    written, write = [], bookmarks.write
    bookmarks.write = lambda name, marks: (written.append(name), write(name, marks))
    for _ in range(120):
        armed(arm, clock, *[HOUR] * 4)
        clock.wait_until(clock.now() + timedelta(seconds=1))
    assert sorted(written) == [TOO_MANY, WITHOUT_TIMERS, WITHOUT_TIMERS]  # the week's is written once an hour
    clock.wait_until(clock.now() + HOUR)
    armed(arm, clock, HOUR)
    assert written.count(TOO_MANY) == 2


def test_another_process_sets_no_timer_until_the_week_is_over(clock, timers, make_arm, bookmarks):
    armed(make_arm(), clock, *[HOUR] * 4)
    armed(other := make_arm(), clock, 30 * DAY)
    assert len(timers) == 0
    clock.wait_until(clock.now() + LULL)
    armed(other, clock, 30 * DAY)
    assert len(timers) == 1


def test_few_far_actions_do_not_prolong_the_week_but_the_wheel_turns_for_them(clock, make_arm, bookmarks):
    armed(make_arm(), clock, *[HOUR] * 4)
    before, week = bookmarks.read(WITHOUT_TIMERS), bookmarks.read(TOO_MANY)
    clock.wait_until(clock.now() + DAY)
    armed(make_arm(), clock, 30 * DAY)
    assert bookmarks.read(TOO_MANY) == week != {}
    assert bookmarks.read(WITHOUT_TIMERS)[LATEST] > before[LATEST]


def left_by_the_undelivered_handler(clock, timers, make_arm, _early):
    timers.set = lambda *_given: raises(TimerQuotaReached("EventBridge Scheduler", "its quota is used up"))
    armed(make_arm(most_timers=None), clock, HOUR)
    del timers.set


def left_by_a_process_that_knows_an_earlier_week(clock, _timers, _make_arm, early):
    armed(early, clock, HOUR)


@pytest.mark.parametrize(
    "leave", [left_by_the_undelivered_handler, left_by_a_process_that_knows_an_earlier_week]
)
def test_no_other_process_ends_the_week_early(clock, timers, make_arm, bookmarks, leave):
    late, early = make_arm(), make_arm()
    armed(early, clock, *[HOUR] * 4)
    clock.wait_until(clock.now() + PERIOD)
    armed(early, clock, HOUR)  # this process reads the first week now
    clock.wait_until(clock.now() + HOUR)
    armed(late, clock, *[HOUR] * 4)
    begun = clock.now()
    clock.wait_until(begun + HOUR / 4)
    left_at = clock.now()
    leave(clock, timers, make_arm, early)
    assert bookmarks.read(WITHOUT_TIMERS) == {LATEST: text(left_at)}
    clock.wait_until(begun + LULL - HOUR / 4)
    armed(make_arm(), clock, 30 * DAY)
    assert len(timers) == 0
    bookmarks.write(BOOKMARK, {"0": text(clock.now())})
    rearm = Rearm(backends(bookmarks=bookmarks, clock=clock), make_arm())
    rearm(stop_at=clock.now() + HOUR / 60)
    assert bookmarks.read(BOOKMARK)
    clock.wait_until(begun + LULL)
    rearm(stop_at=clock.now() + HOUR / 60)
    assert not bookmarks.read(BOOKMARK)


def test_a_process_that_cannot_write_that_it_has_too_many_tries_again(arm, clock, timers, bookmarks):
    write = bookmarks.write
    bookmarks.write = lambda name, _marks: name != TOO_MANY or raises(BackendUnavailable("DynamoDB", "slow"))
    armed(arm, clock, *[HOUR] * 4)
    assert len(timers) == 0
    bookmarks.write = write
    armed(arm, clock, HOUR)
    assert bookmarks.read(TOO_MANY)


def test_a_process_that_cannot_read_the_bookmark_counts_alone(arm, clock, timers, bookmarks):
    bookmarks.read = lambda _name: raises(BackendUnavailable("DynamoDB", "throttled"))
    armed(arm, clock, HOUR)
    assert len(timers) == 1


def frugal(shop, most_timers, **given):
    cloud = SimulatedCloud(shop.app, start=NOON, **given)
    cloud.memory._most_timers = most_timers
    cloud.deploy(shop.app)
    return cloud


@pytest.mark.parametrize("seed", range(3))
def test_whatever_goes_wrong_while_the_wheel_begins_and_rests_all_actions_run(shop, monkeypatch, seed):
    for module in (arm_module, wheel):
        monkeypatch.setattr(module, "LULL", HOUR)
    cloud = frugal(shop, 1, faults=Faults(seed))
    for number, minutes in enumerate([20, 30, 60, 200, 400, 500] * 2):
        with suppress(BackendUnavailable):
            cloud.scheduler.schedule(Charge(order=f"o-{number}"), at=HOUR / 60 * minutes)
        cloud.advance(HOUR / 4)
    cloud.end_faults()
    cloud.advance(14 * HOUR)
    cloud.check()
    assert cloud.actions("pending") == ()
    cloud.close()


def test_many_far_actions_run_on_time_by_the_wheel_which_rests_a_lull_after_them(shop, monkeypatch):
    for module in (arm_module, wheel):
        monkeypatch.setattr(module, "LULL", 4 * HOUR)
    cloud = frugal(shop, 2)
    due = [HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR]
    for number, delay in enumerate([*due, *due]):
        cloud.scheduler.schedule(Charge(order=f"o-{number}"), at=delay)
    before = cloud.scheduler.schedule(Charge(order="last"), at=30 * DAY)
    cloud.scheduler.schedule(Charge(order="held"), at=31 * DAY, after=[before])
    cloud.advance(4 * HOUR - HOUR / 60)
    assert [at - NOON for _, at in shop.charged] == [delay for delay in due[:3] for _ in range(2)]
    assert cloud.memory.bookmarks.read(BOOKMARK)
    assert len(cloud.memory.timers) < 2
    cloud.advance(HOUR / 2)
    assert not cloud.memory.bookmarks.read(BOOKMARK)
    assert len(cloud.memory.timers) == 3  # none for the held one
    cloud.advance(2 * HOUR)
    assert len(shop.charged) == 8
    cloud.check()
    cloud.close()
