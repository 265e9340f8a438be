"""What one count of a batch stores."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from duetime import ids, instant
from duetime.memory.store import MemoryStore
from duetime.model.action import Status
from duetime.model.batch import SHORT_LIST, ActionBatch, BatchState, Counts, missing_member
from duetime.testing.turned_clock import TurnedClock
from duetime.wakeups.count_batch import CountBatch, Release
from tests.backends import backends

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
