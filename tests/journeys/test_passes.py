"""The sweep and the catch-up among rows that stay stuck, shards that fail, and time that runs out."""

from dataclasses import replace
from datetime import timedelta

import pytest

from duetime.errors import BackendUnavailable
from duetime.memory.notes import MemoryRoutes
from duetime.model.manifest import Manifest
from duetime.model.new_action import new_action
from duetime.settings import Settings
from duetime.wakeups.assembly import Steps
from duetime.wakeups.due_scanner import PAGE
from duetime.wakeups.sweep import bands
from tests.backends import backends
from tests.journeys.conftest import NOON, Charge

MINUTE = timedelta(minutes=1)


@pytest.fixture
def steps(store, queue, clock):
    return Steps(backends(store, queues=queue, clock=clock))


@pytest.fixture
def sweep(steps):
    return steps.sweep


@pytest.fixture
def overdue(store, clock):
    """Put rows that are late by so much; all in one shard if one is given."""

    def put(count, late, shard=None, **changes):
        made = []
        for _ in range(count):
            action = new_action(
                Charge(), due_at=clock.now() - late, now=clock.now(), tenant_id="acme", actor="t",
                correlation_id=None, due_shards=16,
            )  # fmt: skip
            action = replace(action, due_shard=shard or action.due_shard, **changes)
            store.put(action)
            made.append(action.id)
        return made

    return put


class Reads(list):
    """The shards that are read. `failing` ones fail once, `hanging` ones each time after 7 seconds."""

    failing, hanging = frozenset(), frozenset()


@pytest.fixture
def reads(store, clock, monkeypatch):
    made, due = Reads(), store.due

    def read(shard, **given):
        made.append(shard)
        if shard in made.hanging:
            clock.wait_until(clock.now() + timedelta(seconds=7))
            raise BackendUnavailable("DynamoDB", "no response")
        if shard in made.failing:
            made.failing -= {shard}
            raise BackendUnavailable("DynamoDB", "no response")
        return due(shard, **given)

    monkeypatch.setattr(store, "due", read)
    return made


def _each_minute(run, clock, minutes):
    for _ in range(minutes):
        run(stop_at=clock.now() + timedelta(seconds=50))
        clock.wait_until(clock.now() + MINUTE)


def test_the_bands_double_up_to_six_hours():
    assert [band // MINUTE for band in bands(Settings(grace=timedelta(minutes=5)))] == [
        5,
        10,
        20,
        40,
        80,
        160,
        320,
    ]


def test_a_stuck_row_is_sent_in_each_band_once_not_every_minute(sweep, queue, overdue, clock):
    [stuck] = overdue(1, timedelta(0))
    _each_minute(sweep, clock, 330)
    assert queue.sent == [stuck] * 7


def test_stuck_rows_at_the_head_delay_no_row_behind_them(sweep, queue, overdue, clock):
    stuck = overdue(5 * PAGE, timedelta(minutes=5), shard="3")
    _each_minute(sweep, clock, 2)
    fresh = overdue(3, timedelta(minutes=4), shard="3")
    _each_minute(sweep, clock, 3)
    assert set(fresh) <= set(queue.sent)
    assert len(queue.sent) == len(stuck) + len(fresh)


def test_an_interrupted_pass_continues_at_its_bookmark_even_among_equal_due_times(
    sweep, queue, overdue, clock
):
    rows = overdue(10 * PAGE, timedelta(minutes=5), shard="0")
    queue.takes = timedelta(seconds=1)
    passes = [sweep(stop_at=clock.now() + timedelta(seconds=25)) for _ in range(6)]
    assert [result.is_complete for result in passes][:2] == [False, False]
    assert sorted(queue.sent) == sorted(rows)


def test_a_failed_shard_is_logged_and_delays_no_other(sweep, store, queue, overdue):
    rows = {shard: overdue(1, timedelta(minutes=7), shard=shard)[0] for shard in store.due_shards}
    queue.fails_for = {rows["5"]}
    passed = sweep(stop_at=NOON + MINUTE)
    assert passed.failed_shards == ("5",)
    assert not passed.is_complete
    assert set(queue.sent) == set(rows.values()) - {rows["5"]}
    queue.fails_for = set()
    sweep(stop_at=NOON + MINUTE)
    assert rows["5"] in queue.sent
    assert len(queue.sent) == len(rows)


def test_shards_whose_calls_hang_for_all_of_each_pass_starve_no_other(sweep, store, queue, overdue, clock):
    rows = {shard: overdue(1, timedelta(minutes=7), shard=shard)[0] for shard in store.due_shards}
    hanging = {row for shard, row in rows.items() if int(shard) < 10}
    queue.fails_for, queue.takes = hanging, timedelta(seconds=7)
    for _ in range(len(rows) // 2):
        sweep(stop_at=clock.now() + timedelta(seconds=10))  # time for two calls
    assert set(queue.sent) == set(rows.values()) - hanging


def test_an_empty_shard_is_read_once_a_pass_and_one_with_an_overdue_row_once_more_for_each_band(
    sweep, store, reads, overdue, clock
):
    _each_minute(sweep, clock, 2)
    assert sorted(reads) == sorted(2 * store.due_shards)
    overdue(1, timedelta(minutes=7), shard="5")
    reads.clear()
    sweep(stop_at=clock.now() + MINUTE)
    assert sorted(reads) == sorted([*store.due_shards, *7 * ["5"]])


def test_a_shard_whose_one_read_fails_is_scanned_band_by_band(sweep, queue, reads, overdue):
    [row] = overdue(1, timedelta(minutes=7), shard="5")
    reads.failing = {"5"}
    passed = sweep(stop_at=NOON + MINUTE)
    assert (queue.sent, passed.failed_shards) == ([row], ())


def test_shards_whose_reads_hang_starve_no_other(sweep, queue, reads, overdue, clock):
    rows = {shard: overdue(1, timedelta(minutes=7), shard=shard)[0] for shard in map(str, range(16))}
    hanging = {shard for shard in rows if int(shard) < 10}
    reads.hanging = hanging
    for _ in range(7 * len(rows)):
        sweep(stop_at=clock.now() + timedelta(seconds=10))  # time for two calls
    assert set(queue.sent) == {row for shard, row in rows.items() if shard not in hanging}


def test_rows_of_a_type_whose_queue_vanished_block_no_others(overdue, store, queue, clock):
    queue.missing, reported = "mails", []
    routes = MemoryRoutes([Manifest("mails", {"remind": 1})])
    steps = Steps(backends(store, queues=queue, routes=routes, clock=clock), report_stuck=reported.append)
    good = overdue(320, timedelta(minutes=7), shard="3")
    lost = overdue(89, timedelta(minutes=8), shard="3", type="remind")
    passed = steps.sweep(stop_at=NOON + MINUTE)
    assert sorted(queue.sent) == sorted(good)
    assert (passed.sent, passed.failed_shards, passed.is_complete) == (320, (), True)
    assert [(aside.queue, aside.number) for aside in passed.set_aside] == [("mails", 89)]
    assert reported == [
        "89 actions of the queue 'mails' cannot be sent: SQS refuses: no queue is named 'mails'. Deploy again"
    ]
    queue.missing = None
    steps.deep_sweep(stop_at=NOON + MINUTE)
    assert set(lost) <= set(queue.sent)


def test_the_catch_up_sends_all_overdue_rows_and_stops_when_its_time_is_over(steps, queue, overdue, clock):
    many = overdue(8 * PAGE, timedelta(days=3), shard="0")
    rows = many + overdue(10, timedelta(minutes=6), shard="1")
    early = overdue(5, timedelta(minutes=1))
    catch_up = steps.deep_sweep
    queue.takes = timedelta(seconds=1)
    passes = [catch_up(stop_at=clock.now() + timedelta(seconds=25)) for _ in range(2)]
    assert [result.is_complete for result in passes] == [False, False]
    queue.takes = timedelta(0)
    assert catch_up(stop_at=clock.now() + MINUTE).is_complete
    assert set(rows) <= set(queue.sent)
    assert sorted(row for row in queue.sent if row in many) == sorted(many)  # each pass went on
    assert not set(early) & set(queue.sent)


def test_passes_read_nothing_while_the_switch_is_off(store, queue, overdue, clock):
    overdue(3, timedelta(hours=1))
    off = Steps(backends(store, queues=queue, clock=clock, settings=Settings(enabled=False)))
    for step in (off.sweep, off.deep_sweep):
        passed = step(stop_at=NOON + MINUTE)
        assert (passed.sent, queue.sent) == (0, [])
