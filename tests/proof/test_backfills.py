"""Backfills in random worlds with faults: each time once, never more open runs than allowed, none lost.

The faults crash callers, workers and passes between two writes, lose responses and send writes late.
Operators pause, resume and cancel meanwhile, and deploys change the job's cadence.
"""

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from random import Random
from unittest.mock import patch

import pytest

from duetime import App, DuetimeError, Run, every
from duetime.jobs.advance_backfill import AdvanceBackfill
from duetime.model.action import Status, Trigger
from duetime.model.backfill import BackfillOrder, BackfillState
from duetime.retry import RetryPolicy
from duetime.testing import Faults, SimulatedCloud
from tests.proof.failing_worlds import RemovedGuards
from tests.proof.world import LOSE_ALL

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECOND, HOUR = timedelta(seconds=1), timedelta(hours=1)
NAME = "press-print"


class World:
    """A job with one to three backfills of ranges that do not overlap."""

    def __init__(self, seed):
        self.draw = Random(f"backfills {seed}")  # noqa: S311 - the same world for the same seed
        self.problems = []
        self.cloud = SimulatedCloud(self.app(5), start=NOON, faults=Faults(seed, lose_all=LOSE_ALL))
        self.jobs = self.cloud.scheduler_for("acme", "clerk", meets_faults=True).jobs

    def app(self, minutes):
        app, overlap = App(), self.draw.choice(["allow", "skip"])

        @app.job(every(minutes=minutes), name=NAME, overlap=overlap, retry=RetryPolicy(3, backoff=[20]))
        def press(run: Run) -> None:
            self.look()
            run.clock.wait_until(run.now() + self.draw.choice([0, 5, 90]) * SECOND)
            run.raise_if_cancelled()
            if run.is_backfill and self.draw.random() < 0.1:
                raise ConnectionError("out of paper")

        return app

    def rows(self):
        return [row for row in self.cloud.actions() if row.trigger is Trigger.BACKFILL]

    def look(self):
        """Check that no backfill has more open runs than it may."""
        open_ids = [row.id for row in self.cloud.memory.store.rows() if not row.status.is_final]
        for backfill in self.cloud.jobs.backfills(NAME):
            still_open = [one for one in open_ids if f".b{backfill.id}" in one]
            if len(still_open) > backfill.at_once:
                self.problems.append(f"{len(still_open)} runs of {backfill.id} are open")

    def begin(self, hours):
        start = NOON - hours * HOUR
        options = {
            "at_once": self.draw.choice([1, 3]),
            "order": self.draw.choice([*BackfillOrder]),
            "again": self.draw.random() < 0.3,
        }
        for _ in range(30):
            with suppress(DuetimeError):
                return self.jobs.backfill(NAME, start, start + HOUR, **options).id
            self.cloud.advance(seconds=5)
        return self.problems.append("a backfill could not begin")

    def meddle(self):
        change = self.draw.choice(["pause", "resume", "resume", "cancel", "deploy", "nothing", "nothing"])
        if change == "deploy":
            with suppress(DuetimeError):
                self.cloud.deploy(self.app(self.draw.choice([5, 7])))
        elif change != "nothing":
            for backfill in self.cloud.jobs.backfills(NAME):
                if change != "cancel" or self.draw.random() < 0.3:
                    with suppress(DuetimeError):
                        getattr(self.jobs, f"{change}_backfill")(NAME, backfill.id)

    def live(self):
        begun = [self.begin(hours) for hours in range(2, 2 + self.draw.choice([1, 2, 3]))]
        for _ in range(self.draw.choice([3, 8])):
            self.cloud.advance(self.draw.choice([20, 60, 400]) * SECOND)
            self.meddle()
        self.cloud.end_faults()
        for backfill in self.cloud.jobs.backfills(NAME):
            with suppress(DuetimeError):
                self.cloud.jobs.resume_backfill(NAME, backfill.id)
        self.cloud.advance(hours=14)
        self.cloud.check()
        return begun

    def broken(self):
        """Yield what is wrong after the faults are over."""
        self.live()
        yield from self.problems
        rows = {row.id: row for row in self.rows()}
        for backfill in self.cloud.jobs.backfills(NAME):
            mine = [row for row in rows.values() if f".b{backfill.id}" in row.id]
            ends = {status: sum(row.status is status for row in mine) for status in Status}
            counted = (backfill.executed, backfill.failed, backfill.cancelled)
            if counted != (ends[Status.EXECUTED], ends[Status.FAILED], ends[Status.CANCELLED]):
                yield f"{backfill.id} counts {counted}, and its rows are {ends}"
            if not backfill.is_over:
                yield f"{backfill.id} is {backfill.state.value}, with {backfill.open} open"
            if (
                backfill.state is BackfillState.COMPLETED
                and backfill.ended + backfill.left_out != backfill.total
            ):
                yield f"{backfill.id} has {backfill.total} times: {backfill}"


def problems_of(seed):
    """Return what is wrong in the world of a seed."""
    world = World(seed)
    try:
        return list(world.broken())
    finally:
        world.cloud.close()


def first_broken(seeds):
    """Return the first world in which something is wrong, and what; None if there is none."""
    return next(((seed, problems) for seed in seeds if (problems := problems_of(seed))), None)


def test_each_time_runs_once_and_none_is_lost(few_seeds):
    assert first_broken(few_seeds) is None


@pytest.mark.long
def test_each_time_runs_once_in_many_more_worlds(many_seeds):
    assert first_broken(many_seeds) is None


@pytest.mark.long
def test_a_run_of_a_backfill_that_fails_is_not_in_the_statistics_of_its_job():
    assert first_broken([2_662]) is None


def statuses_without_missing(self, backfill, *_):
    return {at: row.status for at, row in self._rows(backfill).items()}


MISSING_ROWS = "a backfill puts the rows that are missing"
REMOVED = RemovedGuards(
    "backfills",
    first_broken,
    {MISSING_ROWS: lambda: patch.object(AdvanceBackfill, "_statuses", statuses_without_missing)},
)


@pytest.mark.long
def test_without_the_put_of_missing_rows_a_backfill_does_not_end():
    assert REMOVED.fails_without(MISSING_ROWS)
