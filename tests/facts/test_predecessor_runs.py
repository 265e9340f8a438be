"""For which run of another job one waits, on a day on which the other one changed."""

from dataclasses import replace
from datetime import timedelta

import pytest

from duetime import ids
from duetime.jobs.predecessor_run import PredecessorRun, _may_follow, _status
from duetime.memory.jobs import MemoryJobStore
from duetime.memory.store import MemoryStore
from duetime.model.batch import MOST_FOLLOWERS
from duetime.model.job import Version
from tests.facts.claim_decisions import DAY, HOUR, NOON, job, row
from tests.hooked import Hooked

TICK = timedelta(microseconds=1)
MORNING, AFTERNOON = NOON - 3 * HOUR, NOON + 3 * HOUR


def version(number, wall, since, until=None):
    definition = replace(job().definition, cadences=(f"daily {wall} tz=UTC",))
    return Version(number=number, definition=definition, since=since, until=until)


@pytest.mark.parametrize(
    ("walls", "changed_at", "expected"),
    [
        (("09:00", "15:00"), MORNING + HOUR, (MORNING, 1)),
        (("09:00", "15:00"), MORNING, (MORNING, 1)),
        (("09:00", "15:00"), MORNING - HOUR, (AFTERNOON, 2)),
        (("09:00", "09:00"), MORNING, (MORNING, 1)),
        (("09:00", "09:00"), MORNING - TICK, (MORNING, 2)),
        (("15:00", "16:00"), AFTERNOON - HOUR, (AFTERNOON + HOUR, 2)),
        (("15:00", "16:00"), AFTERNOON, (AFTERNOON, 1)),
        (("09:00", "15:00"), NOON - 2 * DAY - HOUR, (AFTERNOON, 2)),
        (("09:00", "15:00"), NOON + DAY, (MORNING, 1)),
    ],
    ids=str,
)
def test_a_run_waits_for_the_version_that_was_in_force(walls, changed_at, expected):
    jobs = Hooked(MemoryJobStore(MemoryStore()))
    first, second = (
        version(1, walls[0], NOON - 9 * DAY, changed_at),
        version(2, walls[1], changed_at),
    )
    jobs.hooks["versions"] = lambda _versions, _ref: [first, second]
    other = job(version=2, since=changed_at, definition=second.definition)
    waiting = row(NOON, cadence=None)
    assert PredecessorRun(None, jobs)._time_of(other, waiting, job()) == expected


def test_a_run_follows_another_once_and_only_so_many_do():
    waiting, run = row(NOON), row(MORNING)
    others = tuple(ids.new_action_id(NOON) for _ in range(MOST_FOLLOWERS))
    assert _may_follow(waiting, run)
    assert not _may_follow(waiting, replace(run, followers=(waiting.id,)))
    assert _may_follow(waiting, replace(run, followers=others[1:]))
    assert not _may_follow(waiting, replace(run, followers=others))


def test_the_status_of_a_run_names_a_removed_job():
    assert _status([], job()) == "has not succeeded: it has no run"
    assert _status([], job(removed_at=NOON)) == "has not succeeded, and its job is no longer declared"
