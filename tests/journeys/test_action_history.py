"""What an action keeps of its own past.

Who created, changed and ended it, and when; and the same fields on its run.
"""

from __future__ import annotations

from datetime import timedelta

from duetime import App, Run
from duetime.testing import SimulatedCloud
from tests.journeys.conftest import NOON, Charge, Flaky

HOUR = timedelta(hours=1)


def test_an_action_names_its_creator_and_its_last_change(cloud):
    made = cloud.scheduler.schedule(Charge(), at=2 * HOUR)
    assert (made.created_by, made.created_at) == ("simulation", NOON)
    assert (made.modified_by, made.modified_at) == ("simulation", NOON)

    cloud.advance(minutes=30)
    moved = cloud.scheduler.reschedule(made.id, HOUR)
    assert (moved.created_at, moved.modified_at) == (NOON, NOON + HOUR / 2)

    cloud.advance(minutes=15)
    cancelled = cloud.scheduler.cancel(made.id)
    assert (cancelled.cancelled_by, cancelled.modified_at) == ("simulation", NOON + HOUR * 3 / 4)
    assert (cancelled.executed_at, cancelled.failure_reason) == (None, None)


def test_an_executed_action_has_its_times_and_its_machine(cloud):
    made = cloud.scheduler.schedule(Charge(), at=HOUR)
    cloud.advance(hours=2)
    ran = cloud.scheduler.get(made.id)
    assert (ran.executed_at, ran.modified_at) == (NOON + HOUR, NOON + HOUR)
    assert ran.modified_by == ran.attempts[-1].instance
    assert (ran.created_by, ran.cancelled_by, ran.failure_reason) == ("simulation", None, None)


def test_a_failed_action_has_its_reason_and_the_times_of_each_attempt(cloud):
    made = cloud.scheduler.schedule(Flaky(fails=3), at=HOUR)
    cloud.advance(hours=5)
    failed = cloud.scheduler.get(made.id)
    assert (failed.failure_reason, failed.executed_at) == ("ConnectionError: the bank did not answer", None)
    begun = [NOON + HOUR, NOON + HOUR + timedelta(minutes=1), NOON + 2 * HOUR + timedelta(minutes=1)]
    assert [attempt.started_at for attempt in failed.attempts] == begun
    assert [attempt.finished_at for attempt in failed.attempts] == begun
    assert all(attempt.queued_at <= attempt.started_at for attempt in failed.attempts)


def test_a_run_has_its_tenant_attempt_and_actor():
    app, runs = App(), list[Run]()

    @app.action
    def charge(payload: Charge, run: Run) -> None:
        runs.append(run)

    cloud = SimulatedCloud(app, start=NOON)
    made = cloud.scheduler.schedule(Charge(), at=HOUR, correlation_id="order:1")
    cloud.advance(hours=2)

    (run,) = runs
    assert (run.id, run.idempotency_key, run.type) == (made.id, made.id, "charge")
    assert (run.tenant_id, run.actor, run.correlation_id) == (made.tenant_id, "simulation", "order:1")
    assert (run.attempt, run.fence, run.trigger) == (1, 1, "scheduled")
    assert (run.nominal_at, run.due_at, run.deadline) == (NOON + HOUR, NOON + HOUR, NOON + HOUR + HOUR / 12)
    assert (run.job, run.cadence) == (None, None)
