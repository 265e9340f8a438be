"""Machines' clocks differ.

Two workers on one store, each with a clock of its own, a handler that nothing interrupts.
"""

from datetime import timedelta

import pytest

from duetime import App, Run, Status
from duetime.testing import Faults, SimulatedCloud, WorkerDied
from duetime.worker.worker import DeliveryResult
from tests.journeys.conftest import NOON
from tests.journeys.skewed_workers import HOUR, LEASE, MINUTE, SECOND, SKEW, TICK, Mail, SkewedWorkers
from tests.journeys.skewed_workers import skewed as skewed  # noqa: PLC0414 - a fixture

APART = [(timedelta(0), SKEW), (SKEW, timedelta(0)), (-SKEW / 2, SKEW / 2), (SKEW / 2, -SKEW / 2)]


@pytest.mark.parametrize(
    ("first", "second"), APART, ids=lambda difference: f"{difference.total_seconds():+}s"
)
def test_workers_at_the_largest_allowed_skew_never_take_over_a_live_lease(skewed, first, second):
    answers = []
    skewed.begun_at(first, LEASE, lambda: answers.append(skewed.worker("second", second)()))
    assert answers == [DeliveryResult.PUT_OFF]
    assert [name for name, _ in skewed.runs] == ["first"]
    assert (skewed.row.status, skewed.row.recoveries, skewed.row.fence) == (Status.EXECUTED, 0, 1)


@pytest.mark.parametrize(
    ("first", "second"), APART, ids=lambda difference: f"{difference.total_seconds():+}s"
)
def test_a_lease_that_has_ended_is_taken_over_at_most_twice_the_skew_later(skewed, first, second):
    taken_over = []

    def then():
        skewed.worker("second", second)()
        taken_over.append(skewed.row)

    skewed.begun_at(first, LEASE + 2 * SKEW + TICK, then)
    assert [name for name, _ in skewed.runs] == ["first", "second"]
    [after] = taken_over
    assert (after.status, after.recoveries, after.fence) == (Status.EXECUTED, 1, 2)
    assert skewed.row == after  # the end of the first run has changed nothing


@pytest.mark.parametrize("off", [-SKEW, SKEW], ids=["behind", "ahead"])
def test_a_settle_counts_by_its_fence_and_not_by_its_clock(skewed, off):
    def dies(name):
        raise WorkerDied

    skewed.does = dies
    with pytest.raises(WorkerDied):
        skewed.worker("first")()
    skewed.does = len
    skewed.clock.wait_until(NOON + LEASE + 2 * SKEW + TICK)
    skewed.worker("second", off)()
    assert (skewed.row.status, skewed.row.recoveries) == (Status.EXECUTED, 1)
    assert [(attempt.instance, attempt.ending) for attempt in skewed.row.attempts] == [
        ("first", None),
        ("second", "executed"),
    ]


def test_clocks_further_apart_double_a_run_but_never_its_end(skewed):
    ends = []
    skewed.begun_at(
        timedelta(0), LEASE, lambda: ends.append((skewed.worker("second", SKEW + SECOND)(), skewed.row))
    )
    assert [name for name, _ in skewed.runs] == ["first", "second"]
    [(_, after)] = ends
    assert (after.status, after.fence) == (Status.EXECUTED, 2)
    assert skewed.row == after


@pytest.mark.parametrize("off", [-SKEW, SKEW], ids=["behind", "ahead"])
def test_no_run_begins_before_its_due_time_by_its_workers_clock(off):
    skewed = SkewedWorkers()
    skewed.ref = skewed.scheduler.schedule(Mail(), at=SECOND).ref
    work = skewed.worker("first", off)
    while work() is DeliveryResult.PUT_OFF:
        skewed.clock.wait_until(skewed.clock.now() + SECOND)
    [(_, begun)] = skewed.runs
    assert begun == max(SECOND - off, timedelta(0))
    assert skewed.row.attempts[0].started_at >= skewed.row.nominal_at


def test_a_key_holds_by_the_callers_clock_and_never_ends_before_its_action():
    skewed = SkewedWorkers()
    ahead = skewed.scheduler_of(SKEW)

    def call(scheduler, at):
        return scheduler.schedule(Mail(), at=at, idempotency_key="k", idempotency_ttl=MINUTE)

    first = call(skewed.scheduler, HOUR)
    skewed.clock.wait_until(NOON + MINUTE)
    assert call(ahead, HOUR) == first
    skewed.scheduler.cancel(first.id)
    skewed.clock.wait_until(NOON + MINUTE - SKEW)
    assert call(ahead, HOUR) != first


def test_ids_sort_by_the_clock_of_their_creator():
    skewed = SkewedWorkers()
    later = skewed.scheduler_of(SKEW).schedule(Mail(), at=HOUR)
    skewed.clock.wait_until(NOON + SECOND)
    sooner = skewed.scheduler.schedule(Mail(), at=HOUR)
    assert [row.id for row in skewed.scheduler.list()] == [later.id, sooner.id]


@pytest.mark.parametrize("seed", range(6))
def test_clocks_at_the_largest_allowed_skew_break_no_invariant(seed):
    app = App()

    @app.action
    def mail(payload: Mail, run: Run) -> None:
        run.clock.wait_until(run.now() + timedelta(seconds=200))

    cloud = SimulatedCloud(app, faults=Faults.only(seed, pause=0.15, skew=SKEW))
    rows = [cloud.scheduler.schedule(Mail(), at=place * MINUTE) for place in range(20)]
    cloud.advance(hours=3)
    cloud.end_faults()
    cloud.advance(hours=7)
    cloud.check()
    assert {cloud.scheduler.get(row.id).status for row in rows} == {Status.EXECUTED}
    cloud.close()
