"""Checkpoints in random worlds with faults: none that was stored is lost, and no run that continues fails."""

from collections import defaultdict
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random
from unittest.mock import patch

import pytest

from duetime import App, Continue, DuetimeError, Payload, Run
from duetime.memory.store import MemoryStore
from duetime.model.action import Status
from duetime.model.checkpoint import Checkpoint
from duetime.model.lease import Renewed
from duetime.retry import RetryPolicy
from duetime.settings import Settings
from duetime.testing import Faults, SimulatedCloud
from tests.proof.failing_worlds import RemovedGuards
from tests.proof.world import LOSE_ALL

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
PARTS = 12
PATIENT = RetryPolicy(attempts=100, backoff=[5, 60])


class Import(Payload):
    pass


class World:
    """Imports of twelve parts, of which each run does some; half of them share a concurrency key."""

    def __init__(self, seed):
        app, self.draw = App(), Random(f"checkpoints {seed}")  # noqa: S311 - the same for the same seed
        self.stored, self.problems = defaultdict(int), []

        @app.action(retry=PATIENT, timeout=15 * MINUTE)
        def import_rows(payload: Import, run: Run) -> None:
            del payload
            self.handle(run)

        settings = Settings(max_recoveries=100)
        self.cloud = SimulatedCloud(
            app, start=NOON, settings=settings, faults=Faults(seed, lose_all=LOSE_ALL)
        )

    def handle(self, run):
        done = run.last_checkpoint or 0
        if done < self.stored[run.id]:
            self.problems.append(f"{run.id} begins at part {done}, and {self.stored[run.id]} were stored")
        for _ in range(min(self.draw.choice([1, 2, 3]), PARTS - done)):
            self.cloud.clock.wait_until(self.cloud.now + self.draw.choice([1, 30, 200]) * SECOND)
            run.raise_if_cancelled()
            done += 1
            run.checkpoint(done)
            self.stored[run.id] = max(done, self.stored[run.id])
        if done < PARTS:
            raise Continue

    def live(self):
        made = []
        for number in range(10):
            with suppress(DuetimeError):
                key = {"concurrency_key": "table", "concurrency_limit": 2} if number % 2 else {}
                made.append(self.cloud.scheduler.schedule(Import(), at=number * MINUTE, **key).id)
        self.cloud.advance(hours=3)
        self.cloud.end_faults()
        self.cloud.advance(hours=13)
        self.cloud.check()
        for row in self.cloud.actions():
            if row.id in made and row.status is not Status.EXECUTED:
                self.problems.append(f"{row.id} is {row.status}: {row.failure_reason}")
            if row.checkpoint is None or row.checkpoint.value != PARTS:
                self.problems.append(f"{row.id} ends with the checkpoint {row.checkpoint}")
        self.cloud.close()


def first_broken(seeds):
    for seed in seeds:
        world = World(seed)
        world.live()
        if world.problems:
            return seed, world.problems
    return None


def test_no_stored_checkpoint_is_lost(few_seeds):
    assert first_broken(few_seeds) is None


@pytest.mark.long
def test_no_stored_checkpoint_is_lost_in_many_more_worlds(many_seeds):
    assert first_broken(many_seeds) is None


def without_the_fence():
    def checkpoint(self, claimed, stored):
        row = self.get(claimed.ref)
        self.write(row, replace(row, checkpoint=stored))
        return Renewed(cancel_requested=False)

    return patch.object(MemoryStore, "checkpoint", checkpoint)


def without_the_order():
    return patch.object(Checkpoint, "replaces", lambda _self, _stored: True)


FENCE, ORDER = "a checkpoint needs the fence of its run", "a checkpoint does not replace a later one"
REMOVED = RemovedGuards("checkpoints", first_broken, {FENCE: without_the_fence, ORDER: without_the_order})


@pytest.mark.parametrize("guard", REMOVED.removes)
def test_without_a_guard_a_stored_checkpoint_is_lost(guard):
    """The contract tests the comparison at a claim under a key: here no process pauses just before it."""
    assert REMOVED.fails_without(guard)
