"""Messages are sent in phase with their due times: small functions sleep once, so that workers need not."""

from dataclasses import replace
from datetime import timedelta
from itertools import chain, count
from random import Random
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duetime.cost import units
from duetime.ids import TenantId, new_action_id
from duetime.instant import due_time
from duetime.memory.store import MemoryStore
from duetime.model.action import ActionRef
from duetime.model.change import Change
from duetime.model.new_action import new_action
from duetime.ports.wakeups import DueMessage
from duetime.settings import Made, Settings
from duetime.testing import Faults, SimulatedCloud, TurnedClock
from duetime.wakeups.arm import CALLS_AT_ONCE, FULL_BATCH, Arm
from duetime.wakeups.assembly import Steps
from duetime.wakeups.dispatch import Dispatch
from duetime.wakeups.due_messages import (
    CALLS_IN_TURN,
    CALLS_OF_A_PHASE,
    GROUP,
    WHEEL_SLEEPS,
    PhaseSleep,
    delay_until,
    send_wakes,
)
from duetime.wakeups.due_scanner import PAGE, ScanResult
from duetime.wakeups.pass_parts import sweep
from tests.backends import backends
from tests.journeys.conftest import NOON, Charge

MS, SECOND, MINUTE = timedelta(milliseconds=1), timedelta(seconds=1), timedelta(minutes=1)
WHEEL = Settings(timers="wheel")
EARLIEST = 300 * MS
"""How much before its due time a message in phase arrives at most: the time of ten calls, and a reserve."""


class Clock(TurnedClock):
    """Counts the time of its sleeps."""

    def __init__(self, now):
        super().__init__(now)
        self.slept = timedelta(0)

    def wait_until(self, instant):
        self.slept += max(timedelta(0), instant - self.now())
        super().wait_until(instant)


class Queue:
    """Takes a time for each call, and records when each message will arrive."""

    def __init__(self, clock, takes=15 * MS):
        self.clock, self.takes, self.calls, self.arrivals = clock, takes, 0, {}

    def send(self, sends):
        self.calls += 1
        for send in sends:
            self.arrivals[send.message.ref.id] = self.clock.now() + send.delay * SECOND - send.message.due_at
        TurnedClock.wait_until(self.clock, self.clock.now() + self.takes)

    def side_by_side(self, function, arguments):
        """Call for each argument as eight threads do, which share a CPU but wait together."""
        rest = list(arguments)
        while rest:
            group, rest, takes = rest[:CALLS_AT_ONCE], rest[CALLS_AT_ONCE:], self.takes
            self.takes = 5 * MS
            yield from map(function, group)
            self.takes = takes
            TurnedClock.wait_until(self.clock, self.clock.now() + takes - 5 * MS)


@pytest.fixture
def clock():
    return Clock(NOON + 437 * MS)


@pytest.fixture
def queue(clock):
    return Queue(clock)


@pytest.fixture
def store():
    return MemoryStore()


def arm_of(store, queue, clock, map_=map, **settings):
    over = backends(store, queues=queue, clock=clock, settings=Settings(**settings))
    return Arm(over, in_phase=True, parallel_map=map_)


def pending(clock, *due, since=timedelta(0)):
    return [
        new_action(
            Charge(),
            due_at=due_at,
            now=clock.now() - since,
            tenant_id=TenantId("acme"),
            actor="test",
            correlation_id=None,
            due_shards=16,
        )
        for due_at in due
    ]


def changes(clock, *due, **given):
    return [Change(None, action) for action in pending(clock, *due, **given)]


def in_minutes(number):
    return [NOON + MINUTE + index * 7 * SECOND for index in range(number)]


def are_in_phase(queue):
    return all(-EARLIEST <= late <= timedelta(0) for late in queue.arrivals.values())


def test_arm_sleeps_once_for_a_batch_whose_due_times_are_whole_seconds(store, queue, clock):
    arm_of(store, queue, clock)(changes(clock, *in_minutes(40)))
    assert (len(queue.arrivals), queue.calls) == (40, 40 / GROUP)
    assert are_in_phase(queue)
    assert timedelta(0) < clock.slept < SECOND


def test_calls_side_by_side_begin_later_and_end_in_phase_too(store, queue, clock):
    apart = Queue(other := Clock(clock.now()))
    arm_of(store, queue, clock, queue.side_by_side)(changes(clock, *in_minutes(99)))
    arm_of(store, apart, other)(changes(other, *in_minutes(99)))
    waits = [-sum(one.arrivals.values(), timedelta(0)) for one in (queue, apart)]
    assert are_in_phase(queue)
    assert waits[0] < waits[1] * 0.7


def test_each_fraction_of_a_second_has_its_phase_within_the_same_second(store, queue, clock):
    fractions = [0, 20, 250, 437, 500, 730, 999]
    arm_of(store, queue, clock)(changes(clock, *(NOON + MINUTE + fraction * MS for fraction in fractions)))
    assert are_in_phase(queue)
    assert clock.slept <= SECOND


@pytest.mark.parametrize(
    ("number", "since"),
    [(FULL_BATCH, timedelta(0)), (3, 3 * SECOND)],
    ids=["a full batch", "old records"],
)
def test_a_backlog_of_the_stream_is_armed_without_a_sleep(store, queue, clock, number, since):
    arm_of(store, queue, clock)(changes(clock, *in_minutes(number), since=since))
    assert len(queue.arrivals) == number
    assert clock.slept == timedelta(0)


def test_after_an_action_that_is_due_soon_nothing_sleeps_for_a_minute(store, queue, clock):
    arm = arm_of(store, queue, clock)
    for ahead in (SECOND, MINUTE):
        arm(changes(clock, clock.now() + ahead, *in_minutes(2)))
        assert clock.slept == timedelta(0)
    TurnedClock.wait_until(clock, clock.now() + MINUTE)
    arm(changes(clock, NOON + 10 * MINUTE))
    assert clock.slept > timedelta(0)


def test_arm_does_not_sleep_beyond_its_time(store, queue, clock):
    arm_of(store, queue, clock)(changes(clock, *in_minutes(3)), stop_at=clock.now() + 100 * MS)
    assert len(queue.arrivals) == 3
    assert clock.slept == timedelta(0)


def test_a_far_action_gets_its_timer_without_a_sleep(store, queue, clock):
    arm_of(store, queue, clock)(changes(clock, NOON + 5 * timedelta(hours=1)))
    assert (queue.calls, clock.slept) == (0, timedelta(0))


def test_dispatch_sleeps_until_the_phase_of_its_timer(queue, clock):
    [action] = pending(clock, NOON + 40 * SECOND + 900 * MS)
    dispatch = Dispatch(backends(queues=queue, clock=clock), in_phase=True)
    delay = dispatch(DueMessage(ref=action.ref, type=action.type, due_at=action.due_at, generation=0))
    assert delay in {39, 40}
    assert are_in_phase(queue)


@pytest.mark.parametrize(("number", "sleeps"), [(3, False), (4, True)])
def test_nothing_sleeps_for_fewer_messages_than_are_worth_it(store, queue, clock, number, sleeps):
    arm_of(store, queue, clock, made=Made(sleeps_from=4))(
        changes(clock, clock.now() + 3 * SECOND, *in_minutes(number))
    )
    assert len(queue.arrivals) == number + 1
    assert (clock.slept > timedelta(0)) is sleeps


def turned(store, queue, clock, rows):
    for action in rows:
        store.put(action)
    steps = Steps(backends(store, queues=queue, clock=clock, settings=WHEEL), in_phase=True)
    passed = steps.wheel(stop_at=clock.now() + MINUTE)
    assert passed.sent == len(queue.arrivals) == len(rows)


def test_the_wheel_sends_full_pages_in_phase_at_the_wait_of_the_cost_estimate(store, clock):
    queue = Queue(clock, takes=20 * MS)
    rows = [replace(row, due_shard="7") for row in pending(clock, *[NOON + 10 * MINUTE] * 5 * PAGE)]
    turned(store, queue, clock, rows)
    assert are_in_phase(queue)
    waits = -sum(queue.arrivals.values(), timedelta(0)) / len(queue.arrivals)
    assert units.WHEEL_WAIT_MS * MS * 0.8 <= waits <= units.WHEEL_WAIT_MS * MS


def test_a_turn_of_the_wheel_sleeps_for_ten_seconds_at_most(store, queue, clock):
    turned(store, queue, clock, pending(clock, *[NOON + 10 * MINUTE] * 50 * PAGE))
    assert 5 * SECOND < clock.slept <= WHEEL_SLEEPS
    assert all(-SECOND < late <= timedelta(0) for late in queue.arrivals.values())


def test_a_turn_that_goes_on_where_one_was_cut_short_does_not_sleep(store, queue, clock):
    for action in (rows := pending(clock, *[NOON + 10 * MINUTE] * 2 * PAGE)):
        store.put(replace(action, due_shard="7"))
    wheel = Steps(backends(store, queues=queue, clock=clock, settings=WHEEL), in_phase=True).wheel
    assert not wheel(stop_at=clock.now() + 100 * MS).is_complete
    slept = clock.slept
    assert wheel(stop_at=clock.now() + MINUTE).is_complete
    assert len(queue.arrivals) == len(rows)
    assert clock.slept == slept


def test_threads_share_a_phase_until_its_calls_are_taken(clock):
    sleep, at = PhaseSleep(clock, longest=WHEEL_SLEEPS), NOON + 800 * MS
    groups, seconds = CALLS_OF_A_PHASE // CALLS_IN_TURN, WHEEL_SLEEPS // SECOND
    begins = [sleep.reserve(at, CALLS_IN_TURN) for _ in range(groups * (seconds + 1))]
    assert begins == [
        at + second * SECOND if second < seconds else None
        for second in range(seconds + 1)
        for _ in range(groups)
    ]


def test_a_pass_has_the_time_that_the_wheel_sleeps(shop):
    cloud, shares = SimulatedCloud(shop.app, start=NOON), []
    clock = TurnedClock(NOON)
    steps = Steps(replace(cloud.memory.backends, settings=WHEEL, clock=clock))
    steps.wheel = lambda stop_at: shares.append(stop_at - clock.now()) or ScanResult()
    sweep(steps, NOON + 50 * SECOND)
    cloud.close()
    assert shares[0] >= WHEEL_SLEEPS


@pytest.mark.parametrize(("due", "sleeps"), [(15, False), (17, True)])
def test_the_wheel_never_sleeps_past_a_due_time(store, queue, clock, due, sleeps):
    turned(store, queue, clock, pending(clock, *[clock.now() + due * SECOND] * 2))
    assert (clock.slept > timedelta(0)) is sleeps


POLL, MINUTES = 250 * MS, 2
"""How often Lambda reads a shard of a stream; how long the metered stream flows."""


def test_a_stream_of_ten_million_a_day_takes_the_units_of_the_cost_estimate(store):
    """Records of one of four shards come at random; arm's calls take the time that the estimate assumes."""
    draw, clock = Random(26), Clock(NOON)  # noqa: S311 - the same stream each time
    queue = Queue(clock, takes=20 * MS)
    arm, waiting, batches = arm_of(store, queue, clock, queue.side_by_side), [], 0
    times = [NOON + MINUTES * MINUTE * draw.random() for _ in range(MINUTES * 60 * 29)]
    for at in sorted(times):
        ahead = timedelta(seconds=draw.uniform(10, 880))
        waiting.append((at, due_time(ahead, now=at)))
    total = len(waiting)
    while waiting:
        ready = [(at, due_at) for at, due_at in waiting if at <= clock.now()][:FULL_BATCH]
        if ready:
            batches += 1
            waiting = waiting[len(ready) :]
            arm([*chain(*(changes(clock, due_at, since=clock.now() - at) for at, due_at in ready))])
            TurnedClock.wait_until(
                clock, clock.now() + units.ARM_MS * MS + units.ARM_RECORD_MS * MS * len(ready)
            )
        else:
            TurnedClock.wait_until(clock, clock.now() + POLL)
    month = timedelta(days=units.DAYS) / (MINUTES * MINUTE)
    waits = -sum(queue.arrivals.values(), timedelta(0)) / total
    assert len(queue.arrivals) == total
    assert batches * month <= units.PHASE_BATCHES / units.STREAM_SHARDS * 1.01
    assert clock.slept / batches <= units.LONGEST_SLEEP_MS * MS
    assert queue.calls <= batches + total / units.SEND_GROUP
    assert units.PHASE_WAIT_MS * MS * 0.8 <= waits <= units.PHASE_WAIT_MS * MS


NUMBERS = count()
due_times = st.lists(st.integers(min_value=-2_000, max_value=950_000), min_size=1, max_size=60)


@given(due_times, st.integers(min_value=0, max_value=999), st.booleans())
def test_no_sleep_delays_a_message_past_its_due_time(ahead, fraction, has_two_queues):
    begin = NOON + fraction * MS
    clock, lazy = Clock(begin), Clock(begin)
    queue, control = Queue(clock), Queue(lazy)
    routes = SimpleNamespace(queue_of=lambda name, **_priority: name)
    messages = [
        DueMessage(
            ref=ActionRef(TenantId("acme"), new_action_id(NOON, lambda size: next(NUMBERS).to_bytes(size))),
            type="b" if has_two_queues and number % 2 else "a",
            due_at=begin + milliseconds * MS,
            generation=0,
        )
        for number, milliseconds in enumerate(ahead)
    ]
    send_wakes(messages, queue, routes, clock, sleep=PhaseSleep(clock))
    send_wakes(messages, control, routes, lazy)
    assert queue.arrivals.keys() == control.arrivals.keys()
    assert clock.slept <= SECOND
    for message in messages:
        late, late_without = (arrivals[message.ref.id] for arrivals in (queue.arrivals, control.arrivals))
        assert late <= max(timedelta(0), late_without)


@pytest.mark.parametrize("start", ["instant", "second"])
def test_simulated_runs_start_by_the_setting_and_their_messages_are_in_phase(shop, start):
    cloud = SimulatedCloud(
        shop.app, start=NOON + 437 * MS, settings=Settings(start=start), faults=Faults.only(1)
    )
    for number in range(30):
        cloud.scheduler.schedule(Charge(), at=NOON + MINUTE * (1 + number) + (number % 3) * 300 * MS)
    cloud.advance(hours=1)
    runs = [(row.due_at, row.attempts[0]) for row in cloud.actions("executed")]
    cloud.close()
    waits = [max(timedelta(0), due_at - run.queued_at) for due_at, run in runs]
    late = [run.started_at - due_at for due_at, run in runs]
    assert len(runs) == 30
    assert min(late) >= timedelta(0)
    if start == "instant":
        assert max(late) == timedelta(0)
        assert max(waits) <= EARLIEST
    else:
        assert max(late) < SECOND
        assert max(waits) == timedelta(0)


@pytest.mark.parametrize("start", ["instant", "second"])
def test_no_delay_is_longer_than_sqs_allows(start):
    assert delay_until(NOON + 900 * SECOND, NOON + MS, start) == (899 if start == "instant" else 900)
    assert delay_until(NOON + 5_000 * SECOND, NOON, start) == 900
    assert delay_until(NOON, NOON + MS, start) == 0
