"""Which rows a pause holds, or skips, when a claim has read them."""

from dataclasses import replace
from datetime import timedelta

import pytest

from duetime.jobs.trusted_reading import KnownPauses
from duetime.memory.keyed_items import MemoryItems
from duetime.memory.store import MemoryStore
from duetime.model.action import Status
from duetime.model.work_pause import PauseScope, WorkPause, work_of
from duetime.ports.work_pauses import WorkPauses
from duetime.testing.turned_clock import TurnedClock
from duetime.worker.paused_work import PausedWork
from duetime_contract.specimens import HOUR, NOON, fresh, terms

TICK = timedelta(microseconds=1)
ROW = fresh(MemoryStore(), due_at=NOON)
DEAD = {"status": Status.PROCESSING, "attempt": 1, "lease_until": NOON - HOUR}


def paused(**options):
    pauses = WorkPauses(MemoryItems())
    pause = WorkPause(
        id="p-1",
        scope=PauseScope.TYPE,
        name=ROW.type,
        reason="an audit",
        by="ann",
        since=NOON - HOUR,
        **options,
    )
    pauses.begin(pause)
    return PausedWork(KnownPauses(pauses, TurnedClock(NOON)), "default"), pause


@pytest.mark.parametrize(
    ("changed", "is_held"),
    [
        ({}, True),
        ({"due_at": NOON + TICK}, False),
        ({"attempt": 1}, True),
        ({"type": "other"}, False),
        ({"status": Status.EXECUTED}, False),
        (DEAD, True),
        (DEAD | {"due_at": NOON + HOUR}, True),
        (DEAD | {"lease_until": NOON + HOUR}, False),
        (DEAD | {"status": Status.EXECUTED}, False),
    ],
    ids=str,
)
def test_a_pause_holds_a_row_whose_run_would_begin_now(changed, is_held):
    work, pause = paused()
    held = work.hold_of_row(replace(ROW, **changed), terms(NOON))
    assert (held is not None and held.hold.pause == pause) is is_held


@pytest.mark.parametrize(
    ("changed", "is_skipped"),
    [
        ({}, True),
        ({"due_at": NOON + TICK}, False),
        ({"attempt": 1}, False),
        ({"due_at": NOON - 2 * HOUR}, False),
        ({"status": Status.EXECUTED}, False),
        ({"status": Status.PROCESSING}, False),
    ],
    ids=str,
)
def test_a_pause_that_skips_does_so_with_a_row_that_became_due_and_has_not_begun(changed, is_skipped):
    work, pause = paused(skips=True, until=NOON + HOUR)
    skip = work.skip_of(replace(ROW, **changed), terms(NOON))
    assert (skip is not None and skip.pause == pause) is is_skipped


@pytest.mark.parametrize(
    ("scope", "rate_key", "may_cover"),
    [
        (PauseScope.RATE_KEY, None, True),
        (PauseScope.RATE_KEY, "shared", True),
        (PauseScope.RATE_KEY, "other", False),
        (PauseScope.TYPE, None, False),
    ],
)
def test_a_pause_of_a_rate_key_may_cover_work_whose_key_is_not_known(scope, rate_key, may_cover):
    pauses = WorkPauses(MemoryItems())
    pauses.begin(WorkPause(id="p-1", scope=scope, name="shared", reason="", by="ann", since=NOON))
    known = KnownPauses(pauses, TurnedClock(NOON))
    assert known.may_cover(work_of(replace(ROW, rate_key=rate_key), None)) is may_cover
