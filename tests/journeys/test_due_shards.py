"""Rows in due shards beyond the setting: after it was lowered, or of a caller with a higher number."""

import logging
from dataclasses import replace

import pytest

from duetime.ids import due_shard_of
from duetime.memory.notes import MemoryBookmarks
from duetime.memory.store import MemoryStore
from duetime.model.action import Status
from duetime.settings import DUE_SHARDS, Settings
from duetime.testing import TurnedClock
from duetime.wakeups.assembly import Steps
from duetime_contract.specimens import HOUR, MINUTE, NOON, claim, end, fresh
from tests.backends import backends

BEFORE = 48


class Sent:
    """Queues and routes that only record the ids."""

    def __init__(self):
        self.ids = []

    def send(self, sends):
        self.ids += [send.message.ref.id for send in sends]

    def queue_for(self, _type):
        return "default"

    def queue_of(self, _type, **_priority):
        return "default"


class Deployment:
    """The passes with one number of shards over rows, bookmarks and a clock that outlast a deploy."""

    def __init__(self, due_shards, store=None, bookmarks=None, clock=None):
        self.store, self.bookmarks = store or MemoryStore(due_shards=BEFORE), bookmarks or MemoryBookmarks()
        self.clock, self.sent, self.due_shards = clock or TurnedClock(NOON), Sent(), due_shards
        self.store.due_shards = tuple(map(str, range(due_shards)))
        settings = Settings(due_shards=due_shards, timers="wheel")
        given = {"clock": self.clock, "settings": settings, "bookmarks": self.bookmarks}
        steps = Steps(backends(self.store, sends=self.sent, **given))
        self.sweep, self.deep_sweep, self.wheel = steps.sweep, steps.deep_sweep, steps.wheel

    def deployed(self, due_shards):
        return Deployment(due_shards, self.store, self.bookmarks, self.clock)

    def run(self, step):
        step(stop_at=self.clock.now() + MINUTE)
        found, self.sent.ids = self.sent.ids, []
        return set(found)

    def schedule(self, due_at, due_shards=BEFORE):
        """Schedule one action in each due shard of a caller's number; return the ids of those beyond ours."""
        rows = {}
        while len(rows) < due_shards:
            row = fresh(self.store, created_at=NOON, due_at=due_at)
            shard = due_shard_of(row.id, due_shards)
            if shard not in rows:
                rows[shard] = replace(row, due_shard=shard)
                self.store.put(rows[shard])
        return {row.id for shard, row in rows.items() if int(shard) >= DUE_SHARDS}


@pytest.mark.parametrize("step", ["sweep", "wheel"])
def test_after_a_lower_number_the_next_pass_finds_the_rows_of_the_surplus_shards(step):
    before = Deployment(BEFORE)
    before.run(getattr(before, step))
    due_at = NOON + 2 * MINUTE if step == "sweep" else NOON + 20 * MINUTE
    beyond = before.schedule(due_at)
    after = before.deployed(DUE_SHARDS)
    after.clock.wait_until(NOON + 8 * MINUTE)
    assert after.run(getattr(after, step)) >= beyond


def test_surplus_shards_are_read_for_a_day_and_until_they_are_empty_and_then_no_more():
    before = Deployment(BEFORE)
    before.run(before.sweep)
    beyond = before.schedule(NOON + 2 * MINUTE)
    after = before.deployed(DUE_SHARDS)
    after.clock.wait_until(NOON + 8 * MINUTE)
    assert after.run(after.sweep) >= beyond
    assert surplus(after) == set(map(str, range(DUE_SHARDS, BEFORE)))
    for row in list(after.store.rows()):
        after.store.settle(
            claim(after.store, row.ref, after.clock.now()), end(Status.EXECUTED, after.clock.now())
        )
    after.run(after.deep_sweep)
    assert len(surplus(after)) == BEFORE - DUE_SHARDS
    after.clock.wait_until(NOON + 25 * HOUR)
    after.run(after.deep_sweep)
    assert surplus(after) == set()
    after.run(after.sweep)
    assert {name.rpartition("/")[2] for name in after.bookmarks.read("sweep")} == set(
        map(str, range(DUE_SHARDS))
    )


@pytest.mark.parametrize("step", ["sweep", "wheel"])
def test_a_caller_may_have_the_former_number_for_a_day_though_its_shards_were_empty(step):
    before = Deployment(BEFORE)
    before.run(getattr(before, step))
    after = before.deployed(DUE_SHARDS)
    after.clock.wait_until(NOON + MINUTE)
    for part in (after.sweep, after.deep_sweep, after.wheel):
        after.run(part)
    beyond = after.schedule(NOON + 2 * HOUR)
    after.clock.wait_until(NOON + 2 * HOUR + (-10 * MINUTE if step == "wheel" else 7 * MINUTE))
    assert after.run(getattr(after, step)) >= beyond


def surplus(deployment):
    return {shard for shard in deployment.bookmarks.read("surplus-shards") if shard != "number"}


def test_the_rows_of_a_caller_with_a_higher_number_are_found_and_reported(caplog):
    stack = Deployment(DUE_SHARDS)
    stack.run(stack.sweep)
    beyond = stack.schedule(NOON + MINUTE)
    stack.clock.wait_until(NOON + HOUR)
    with caplog.at_level(logging.WARNING):
        assert stack.run(stack.deep_sweep) >= beyond
    assert any("a caller has a higher number" in record.message for record in caplog.records)
    later = stack.schedule(NOON + HOUR + MINUTE)
    stack.clock.wait_until(NOON + HOUR + 7 * MINUTE)
    assert stack.run(stack.sweep) >= later


def test_without_surplus_shards_a_pass_reads_those_of_the_setting_alone():
    stack = Deployment(DUE_SHARDS)
    for step in (stack.sweep, stack.deep_sweep, stack.sweep):
        stack.run(step)
    assert stack.bookmarks.read("surplus-shards") == {}
