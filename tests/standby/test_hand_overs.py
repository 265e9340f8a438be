"""A hand-over is ended in the active region only; it outlasts a failover."""

from datetime import timedelta
from types import SimpleNamespace

import pytest

from duetime import App, Payload, RetryPolicy, Run, Status
from duetime.errors import BackendUnavailable, StateConflict
from duetime.model.action import Ending
from duetime.model.active_region import TRUSTED
from duetime.model.lease import Settlement, SettleResult
from duetime.ports.jobs import LockRequirement
from duetime.testing.faults import Faults
from duetime.worker.claim_results import ClaimWon
from duetime.worker.end_run import Settle
from duetime_contract.specimens import NOON, running
from duetime_faults.two_regions import FIRST, SECOND, TwoRegions
from tests.backends import backends

HOUR = timedelta(hours=1)


class Render(Payload):
    heartbeat: timedelta | None = None


class Studio:
    """Two regions, and an action that the first one has handed over."""

    def __init__(self, heartbeat=None):
        self.app, self.tokens = App(), []
        self.app.action(retry=RetryPolicy(attempts=2, backoff=[60], jitter=0))(self._render())
        self.regions = TwoRegions(self.app, faults=Faults.only(1))
        self.action = self.scheduler(FIRST).schedule(Render(heartbeat=heartbeat), at=timedelta(0))
        self.regions.advance(minutes=1)
        assert self.row(FIRST).is_handed_over
        assert self.row(SECOND).is_handed_over

    def _render(self):
        def render(payload: Render, run: Run):
            self.tokens.append(run.token)
            return run.hand_over(timeout=HOUR, heartbeat=payload.heartbeat)

        return render

    def scheduler(self, region):
        return self.regions.scheduler(region)

    def row(self, region):
        return self.scheduler(region).get(self.action.id)


@pytest.fixture
def studio():
    made = Studio()
    yield made
    made.regions.close()


def ends(scheduler, token):
    yield lambda: scheduler.complete(token)
    yield lambda: scheduler.fail(token, "no")
    yield lambda: scheduler.heartbeat(token)


def test_the_standby_region_ends_no_hand_over_and_names_the_active_one(studio):
    before = studio.row(SECOND)
    for end in ends(studio.scheduler(SECOND), studio.tokens[0]):
        with pytest.raises(StateConflict, match=f"{SECOND} stands by: call the active region, {FIRST}"):
            end()
    studio.scheduler(SECOND).cancel(studio.action.id)
    assert studio.row(SECOND).status is before.status
    studio.regions.advance(minutes=1)
    assert studio.scheduler(FIRST).complete(studio.tokens[0]).status is Status.EXECUTED


def test_after_a_failover_the_new_region_ends_it_and_the_former_does_not(studio):
    studio.regions.fail_over()
    for end in ends(studio.scheduler(FIRST), studio.tokens[0]):
        with pytest.raises(StateConflict, match=f"call the active region, {SECOND}"):
            end()
    assert studio.scheduler(SECOND).complete(studio.tokens[0]).status is Status.EXECUTED
    studio.regions.advance(hours=2)
    assert studio.row(FIRST).status is Status.EXECUTED
    assert len(studio.tokens) == 1
    assert studio.regions.broken == []


def test_a_region_that_cannot_read_which_is_active_ends_nothing(studio):
    studio.regions.split()
    with pytest.raises(BackendUnavailable, match="cannot read which region is active"):
        studio.scheduler(FIRST).complete(studio.tokens[0])
    assert studio.row(FIRST).is_handed_over


def test_a_process_that_has_read_the_item_trusts_it_for_no_longer_than_a_failover_waits(studio):
    scheduler = studio.scheduler(FIRST)
    scheduler.heartbeat(studio.tokens[0])
    studio.regions.split()
    studio.regions.advance(TRUSTED)
    with pytest.raises(BackendUnavailable):
        scheduler.complete(studio.tokens[0])


def test_a_run_settles_nothing_once_its_epoch_has_ended():
    ends, others = Settlement(status=Status.EXECUTED, ending=Ending.EXECUTED, finished_at=NOON), backends()
    run = running(others.store)
    region = SimpleNamespace(is_current=lambda fence: fence != run.fence)
    held = ClaimWon(run, None, LockRequirement.NOTHING)
    assert Settle(others, region)(held, ends) is SettleResult.LEASE_LOST
    assert others.store.get(run.ref) == run
