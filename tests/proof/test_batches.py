"""Batches and chains in random worlds with faults: each completes once, with exact counts, and none too soon.

The faults lose, repeat, delay and reorder records, crash arm and the passes, and send writes late.
"""

from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random
from unittest.mock import patch

import pytest

from duetime import App, DuetimeError, Fatal, Order, Payload, Run
from duetime.memory.store import MemoryStore
from duetime.model.action import Status
from duetime.model.batch import BatchState, Counts
from duetime.model.lease import Applied
from duetime.model.predecessors import Decision, Predecessors, Verdict
from duetime.ports.batches import batch_put
from duetime.ports.row_store import RowBatches
from duetime.testing import Faults, InvariantBroken, SimulatedCloud
from duetime.wakeups import count_batch
from duetime.wakeups.follow import SweepHeld
from tests.proof.failing_worlds import RemovedGuards
from tests.proof.world import LOSE_ALL

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
SIZES = [3, 40, 130]


class Line(Payload):
    number: int


class Report(Payload):
    batch: str


class FollowUp(Payload):
    pass


class World:
    """Some batches whose members fail, are cancelled and redriven, and chains of actions behind them."""

    def __init__(self, seed):
        app, self.draw = App(), Random(f"batches {seed}")  # noqa: S311 - the same world for the same seed
        self.problems, self.reports, self.bad = [], [], set()

        @app.action
        def import_line(payload: Line, run: Run) -> None:
            if payload.number in self.bad:
                raise Fatal("no such article")

        @app.action
        def send_report(payload: Report, run: Run) -> None:
            self.report(payload.batch)

        @app.action
        def follow_up(payload: FollowUp, run: Run) -> None:
            self.follow(run.id)

        self.cloud = SimulatedCloud(app, start=NOON, faults=Faults(seed, lose_all=LOSE_ALL))
        self.scheduler = self.cloud.scheduler_for("acme", "clerk", meets_faults=True)

    def report(self, name):
        """Check that no member is left when the completion action runs."""
        self.reports.append(name)
        members = [row for row in self.cloud.actions() if row.batch == name]
        left = [row for row in members if not row.status.is_final and row.redriven_after == 0]
        if left:
            self.problems.append(f"{name} is complete while {len(left)} of {len(members)} members are left")

    def follow(self, action_id):
        """Check that the predecessors of an action were executed."""
        rows = {row.id: row for row in self.cloud.actions()}
        for one in Predecessors.of_row(rows[action_id]).ids:
            if rows[one].status is not Status.EXECUTED and rows[action_id].after.rule is None:
                self.problems.append(f"{action_id} runs, and {one} is {rows[one].status}")

    def fill(self, name):
        """Fill a batch; after each failure the import is repeated from its beginning."""
        size, spread = self.draw.choice(SIZES), self.draw.choice([0, 60, 900])
        orders = [
            Order(Line(number=self.draw.randrange(1_000)), at=self.draw.randrange(spread + 1) * SECOND)
            for _ in range(size)
        ]
        self.bad |= {order.payload.number for order in orders if self.draw.random() < 0.1}
        for _ in range(30):
            with suppress(DuetimeError):
                batch = self.scheduler.batch(name, on_complete=Report(batch=name))
                batch.open()
                batch.schedule_many(orders, start=0)
                batch.close()
                return size
            self.cloud.advance(seconds=5)
            with suppress(DuetimeError):
                if self.scheduler.batches.get(name).state is not BatchState.OPEN:
                    return size
        self.problems.append(f"{name} could not be filled")
        return size

    def chain(self):
        """Schedule a few actions, one after another."""
        with suppress(DuetimeError):
            number, at = self.draw.randrange(1_000), self.draw.randrange(300) * SECOND
            before = self.scheduler.schedule(Line(number=number), at=at)
            for _ in range(3):
                before = self.scheduler.schedule(FollowUp(), at=timedelta(0), after=before)

    def meddle(self, names):
        """Cancel or redrive members by chance."""
        with suppress(DuetimeError):
            name = self.draw.choice(names)
            if self.draw.random() < 0.3:
                row = self.draw.choice([row for row in self.cloud.actions() if row.batch == name])
                self.scheduler.cancel(row.id)
            else:
                self.bad = set()
                self.scheduler.batches.redrive(name, limit=100)

    def live(self):
        sizes = {f"batch-{number}": self.fill(f"batch-{number}") for number in range(2)}
        for _ in range(6):
            self.chain()
            self.cloud.advance(minutes=self.draw.choice([1, 3, 5]))
            self.meddle(list(sizes))
        self.cloud.end_faults()
        self.cloud.advance(hours=2)
        self.check(sizes)
        self.cloud.close()
        return self.problems

    def check(self, sizes):
        try:
            self.cloud.check()
        except InvariantBroken as broken:
            self.problems.append(str(broken))
        for name, size in sizes.items():
            batch = self.cloud.memory.store.find_batch(self.scheduler.batches.get(name).ref)
            statuses = [row.status for row in self.cloud.actions() if row.batch == name]
            counts = Counts().plus(statuses)
            if (batch.state, batch.size, batch.counts) != (BatchState.COMPLETE, size, counts):
                self.problems.append(
                    f"{name} is {batch.state} with {batch.counts}, and its rows say {counts}"
                )
            row = self.scheduler.get(batch.on_complete)
            if row.status is not Status.EXECUTED or self.reports.count(name) > len(row.attempts):
                self.problems.append(f"{name}: {row.status}, reported {self.reports.count(name)} times")
        self.problems += [f"{row.id} is still held" for row in self.cloud.actions() if row.is_held]


def first_broken(seeds):
    """The first world in which something is wrong, and what."""
    for seed in seeds:
        if problems := World(seed).live():
            return seed, problems
    return None


def test_batches_complete_once_with_exact_counts_whatever_goes_wrong(few_seeds):
    assert first_broken(few_seeds) is None


@pytest.mark.long
def test_batches_complete_once_in_many_more_worlds(many_seeds):
    assert first_broken(many_seeds) is None


def without_the_version():
    def change_batch(self, _read, changed):
        self._items.write(batch_put(changed, guard=()))
        return True

    return patch.object(RowBatches, "change_batch", change_batch)


def without_the_generation():
    def release_row(self, row, released):
        current = self.get(row.ref)
        return Applied(self.write(current, replace(released, status=Status.PENDING)))

    return patch.object(MemoryStore, "release", release_row)


def without_the_sweep():
    return patch.object(SweepHeld, "__call__", lambda *_, **__: 0)


def without_waiting():
    return patch.object(count_batch, "decide", lambda *_: Verdict(Decision.RUN))


REMOVED = RemovedGuards(
    "batches",
    first_broken,
    {
        "a batch changes only as it was read": without_the_version,
        "a held action is released only as it was read": without_the_generation,
        "the sweep looks after held actions": without_the_sweep,
        "an action waits for those before it": without_waiting,
    },
)


@pytest.mark.parametrize("guard", REMOVED.removes)
def test_without_a_guard_a_batch_or_a_chain_goes_wrong(guard):
    assert REMOVED.fails_without(guard)


@pytest.mark.long
def test_a_late_redrive_whose_caller_and_records_are_lost_is_counted_in_the_end():
    assert first_broken([1981]) is None
