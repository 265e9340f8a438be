"""What one count of a batch stores."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from duetime import ids, instant
from duetime.memory.store import MemoryStore
from duetime.model.action import Status
from duetime.model.batch import SHORT_LIST, ActionBatch, BatchState, Counts, missing_member
from duetime.settings import Settings
from duetime.testing.turned_clock import TurnedClock
from duetime.wakeups.count_batch import CountBatch, Release
from tests.backends import backends
from tests.cases import for_each

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


class Counted:
    """A batch of which the first members have ended, and the others are not written yet."""

    def __init__(self, size, ended, *, is_closed=True):
        self.store, self.clock = MemoryStore(), TurnedClock(NOON)
        self.batch = ActionBatch(
            tenant_id="acme",
            name="import",
            first_id=ids.batch_id(NOON),
            version="v1",
            opened_at=NOON - MINUTE,
            opened_by="ada",
            size=size,
            closed_at=NOON - MINUTE if is_closed else None,
        )
        assert self.store.open_batch(self.batch, None) == self.batch
        for number in range(ended):
            self.end(number)
        given = backends(self.store, clock=self.clock)
        self.count = CountBatch(given, Release(given))

    def end(self, number, status=Status.EXECUTED):
        row = missing_member(self.batch, number, due_shard="1", at=NOON, kept_until=NOON + MINUTE)
        self.store.record(replace(row, status=status, skip_reason=None))

    @property
    def stored(self):
        return self.store.find_batch(self.batch.ref)

    def wake(self):
        self.count.wake(self.batch.ref, stop_at=instant.LATEST)
        return self.stored

    def sweep(self):
        self.count.sweep(self.batch.ref, stop_at=instant.LATEST)
        return self.stored


def test_an_open_batch_is_counted_by_the_sweep_alone():
    counted = Counted(3, 3, is_closed=False)
    assert counted.wake() == counted.batch
    assert (counted.sweep().state, counted.stored.counts) == (BatchState.OPEN, Counts(executed=3))


def test_a_batch_whose_members_have_ended_is_complete_under_another_version():
    counted = Counted(3, 3)
    complete = counted.wake()
    assert (complete.state, complete.counts, complete.counted_at) == (BatchState.COMPLETE, Counts(3), NOON)
    assert complete.version != counted.batch.version


@pytest.mark.parametrize(("left", "listed"), [(1, 1), (SHORT_LIST, SHORT_LIST), (SHORT_LIST + 1, None)])
def test_few_members_that_are_left_are_listed(left, listed):
    counted = Counted(120 + left, 120)
    found = counted.sweep()
    assert found.counts == Counts(executed=120)
    assert found.short_list == (None if listed is None else tuple(range(120, 120 + left)))
    assert found.left == left


def test_a_member_that_ends_is_counted_among_those_that_were_left():
    counted = Counted(30, 20)
    before = counted.sweep()
    counted.end(25, Status.FAILED)
    assert counted.wake() == before
    counted.clock.wait_until(counted.clock.now() + MINUTE)
    after = counted.sweep()
    assert (after.counts, 25 in after.short_list, after.version != before.version) == (
        Counts(executed=20, failed=1),
        False,
        True,
    )
    counted.clock.wait_until(counted.clock.now() + MINUTE)
    assert counted.sweep().counts == after.counts


@pytest.mark.parametrize(("ended", "is_written"), [(9, False), (10, True)])
def test_many_ended_members_are_stored_before_the_next_count_is_due(ended, is_written):
    counted = Counted(400, 20)
    before = counted.sweep()
    assert before.short_list is None
    for number in range(20, 20 + ended):
        counted.end(number)
    counted.count._count(counted.stored, instant.LATEST)
    assert (counted.stored.counts.executed == 20 + ended) is is_written


READ = Counted(400, 0).batch
"""A large batch without a list of what is left."""


def since(read=READ, /, **changed):
    """A batch as read, of which members 0 to 4 are final and 20 were executed a minute ago."""
    at = NOON - MINUTE
    return replace(read, **{"prefix": 5, "counts": Counts(20), "counted_at": at, "opened_at": at} | changed)


@for_each(
    ("counts", "prefix", "stored"),
    [
        (Counts(29), 5, None),
        (Counts(30), 5, Counts(30)),
        (Counts(19), 6, Counts(20)),
        (Counts(19, 1), 6, Counts(19, 1)),
        (Counts(19, 1), 5, None),
    ],
)
def test_a_count_that_ran_out_of_time_stores_a_longer_prefix_or_ten_ended_members(counts, prefix, stored):
    counted, read = Counted(400, 0), since()
    assert counted.store.change_batch(counted.batch, read)
    counted.count._store_progress(read, replace(read, counts=counts, prefix=prefix))
    after = counted.stored
    assert (after == read) is (stored is None)
    assert stored is None or (after.counts, after.prefix, after.version != read.version) == (
        stored,
        prefix,
        True,
    )


SMALL = since(size=30, counted_at=NOON - MINUTE, short_list=(25, 26))


@for_each(
    ("read", "changed", "expected"),
    [
        (since(), {}, True),
        (since(counted_at=NOON), {}, False),
        (SMALL, {}, False),
        (SMALL, {"counts": Counts(21)}, True),
        (SMALL, {"short_list": (25,)}, True),
        (replace(SMALL, counted_at=NOON), {"counts": Counts(21)}, False),
        (replace(SMALL, counted_at=NOON), {"counts": Counts(29)}, False),
        (replace(SMALL, counted_at=NOON), {"counts": Counts(30)}, True),
        (replace(SMALL, is_counting=False), {"is_counting": True}, True),
        (replace(SMALL, counted_at=NOON), {"is_counting": False}, True),
        (replace(SMALL, opened_at=NOON - 600 * MINUTE), {"counts": Counts(21)}, False),
        (
            replace(SMALL, opened_at=NOON - 600 * MINUTE, restarted_at=NOON - MINUTE),
            {"counts": Counts(21)},
            True,
        ),
    ],
)
def test_a_count_is_written_for_ten_ended_members_or_news_when_it_is_due(read, changed, expected):
    counted = replace(read, **{"is_counting": True} | changed)
    assert Counted(30, 0).count._is_worth_a_write(read, counted) is expected


def test_a_count_that_no_time_is_left_for_lists_no_member():
    counted = Counted(30, 20)
    assert counted.count._counted_all(counted.batch, NOON) == (counted.batch, None)


def test_a_large_batch_is_counted_by_the_sweep_and_not_by_each_record(monkeypatch):
    monkeypatch.setattr("duetime.wakeups.count_batch._LARGEST_AT_ONCE", 150)
    assert (Counted(150, 150).wake().state, Counted(151, 151).wake().state) == ("complete", "running")
    counted = Counted(150, 149)
    before = counted.sweep()
    assert counted.store.change_batch(before, unlisted := replace(before, short_list=None))
    counted.end(149)
    assert counted.wake() == unlisted  # its last count is recent
    counted.clock.wait_until(NOON + timedelta(seconds=5))
    assert counted.wake().state == "complete"


def test_the_sweep_counts_no_complete_batch_and_an_open_one_when_that_is_due():
    complete = Counted(3, 3)
    before = complete.wake()
    complete.clock.wait_until(NOON + 60 * MINUTE)
    assert complete.sweep() == before
    open_one = Counted(30, 0, is_closed=False)
    before = open_one.sweep()
    for number in range(30):
        open_one.end(number)
    assert open_one.sweep() == before


def test_a_batch_is_counted_once_more_at_the_instant_for_that():
    counted = Counted(3, 3)
    recounted = replace(counted.wake(), recount_at=NOON + MINUTE)
    assert counted.store.change_batch(counted.stored, recounted)
    counted.clock.wait_until(NOON + MINUTE - timedelta(microseconds=1))
    assert counted.sweep() == recounted
    counted.clock.wait_until(NOON + MINUTE)
    assert counted.sweep().counted_at == NOON + MINUTE


def test_after_a_redrive_a_batch_is_done_when_all_members_are_final():
    counted = Counted(5, 1)
    for number in range(1, 5):
        counted.end(number, Status.PENDING if number == 1 else Status.EXECUTED)
    redriven = replace(counted.batch, restarted_at=NOON - MINUTE, short_list=(3,), counts=Counts(4))
    assert counted.store.change_batch(counted.batch, redriven)
    assert (counted.wake().state, counted.stored.short_list) == (BatchState.RUNNING, (1,))


SKEW = Settings().clock_skew


@for_each(
    ("changed", "number", "expected"),
    [
        ({}, 4, True),
        ({}, 5, False),
        ({"counted_at": None}, 4, False),
        ({"name": "other"}, 4, False),
        ({"counted_at": NOON + SKEW}, 4, False),
        ({"counted_at": NOON + SKEW - timedelta(microseconds=1)}, 4, True),
        ({"short_list": (4,)}, 4, False),
        ({"short_list": (5,)}, 4, True),
    ],
)
def test_a_redriven_member_was_counted_before_if_it_was_final_at_the_last_count(changed, number, expected):
    counted = Counted(400, 0)
    batch = since(counted.batch, **changed)
    row = missing_member(counted.batch, number, due_shard="1", at=NOON, kept_until=NOON)
    assert counted.count._was_counted(batch, row) is expected
    if batch.name == counted.batch.name:
        assert counted.store.change_batch(counted.batch, batch)
        counted.count._count_again(batch.ref, [row])
        assert (counted.stored != batch, counted.stored.restarted_at is not None) == (expected, expected)
    counted.count._count_again(replace(batch, name="gone").ref, [row])
