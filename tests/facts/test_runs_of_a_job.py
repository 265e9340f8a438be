"""Runs beside others of their job: which ones are in progress, how long one waits, and which end at once."""

from dataclasses import replace

import pytest

from duetime import ids
from duetime.memory.jobs import MemoryJobStore
from duetime.memory.store import MemoryStore
from duetime.model.action import ActionRef, Status
from duetime.model.job import Overlap
from duetime.model.row_parts import Act
from duetime.ports.actions import DamagedRow
from duetime.retry import NEVER
from duetime.settings import Settings
from duetime.worker.claim_job_run import ClaimJobRun, _could_plan, _is_run_of
from duetime.worker.claim_results import ClaimWon, Waiting
from duetime_contract import specimens
from duetime_contract.job_specimens import added, nightly, planned, stored_job, taken
from duetime_contract.specimens import SECOND, end, stored_row, terms
from tests.backends import backends
from tests.facts.claim_decisions import EVENT, HOURLY, NAME, NOON, job, row, running
from tests.unpaused import UNPAUSED

OCCURRENCE, OF_EVENT = ids.occurrence_id(NAME, 3, NOON), ids.event_run_id(NAME, NOON, "e-1")
OF_BACKFILL = f"{OCCURRENCE}.b{ids.new_backfill_id()}"


def damaged(status=None, *, run=OCCURRENCE, tenant="system"):
    return DamagedRow(ActionRef(tenant, run), "no due time", status)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (running(), True),
        (row(), False),
        (running(id=OF_BACKFILL), False),
        (running(tenant_id="acme"), False),
        (running(tenant_id="acme", job_tenant="system"), True),
        (damaged(), True),
        (damaged(Status.PROCESSING), True),
        (damaged(Status.PENDING), False),
        (damaged(tenant="acme"), False),
        (damaged(run=OF_EVENT, tenant="acme"), True),
    ],
    ids=lambda value: str(value)[:60],
)
def test_a_run_in_progress_is_one_of_its_job_beside_backfills_and_a_damaged_one_may_be(found, expected):
    assert _is_run_of(found, job()) is expected


OF_TENANTS = "on_event kb Uploaded tenant=detail.tenant"


@pytest.mark.parametrize(
    ("cadence", "changed", "expected"),
    [
        (OF_TENANTS, {}, True),
        (OF_TENANTS, {"type": "other"}, False),
        (OF_TENANTS, {"job_tenant": "system", "cadence": "OnEvent_kb_Uploaded_254b6d79"}, True),
        (OF_TENANTS, {"job_tenant": "system", "cadence": HOURLY}, False),
        ("on_event kb Uploaded", {"job_tenant": "system", "cadence": EVENT}, False),
    ],
    ids=str,
)
def test_the_planner_writes_rows_of_its_type_and_for_a_tenant_only_of_an_event(cadence, changed, expected):
    its_job = job()
    definition = replace(its_job.definition, cadences=("every 1h", cadence))
    assert _could_plan(definition, row(**changed), its_job.anchor) is expected


class Beside:
    """A job whose lock a run holds."""

    def __init__(self, overlap):
        self.store = MemoryStore()
        self.jobs = MemoryJobStore(self.store)
        self.job = added(self.jobs, definition=replace(nightly().definition, overlap=overlap))
        self.holder = taken(self.store, self.jobs, self.job, specimens.NOON - specimens.HOUR)
        assert self.store.renew(self.holder, specimens.NOON + 9 * specimens.HOUR)
        self.claims = ClaimJobRun(backends(self.store, jobs=self.jobs), UNPAUSED)

    def claim(self, run, seconds=0):
        return self.claims(run.ref, terms(specimens.NOON + seconds * SECOND), NEVER)


@pytest.mark.parametrize(("late", "seconds"), [(0, 15), (60, 15), (100, 25), (3_600, 300)])
def test_a_run_in_the_waiting_place_looks_again_after_a_quarter_of_its_wait(late, seconds):
    beside = Beside(Overlap.QUEUE_ONE)
    run = planned(beside.store, specimens.NOON)
    assert beside.claim(run) == Waiting(15)
    assert stored_job(beside.jobs, beside.job.ref).waiting == run.ref
    assert beside.claim(run, late) == Waiting(seconds)


@pytest.mark.parametrize(("late", "seconds"), [(0, 15), (100, 25), (3_600, 60)])
def test_a_retry_without_the_place_looks_again_after_a_minute_at_most(late, seconds):
    beside = Beside(Overlap.SKIP)
    run = planned(beside.store, specimens.NOON, attempt=1)
    assert beside.claim(run, late) == Waiting(seconds)
    assert stored_job(beside.jobs, beside.job.ref).waiting is None


def test_a_retry_that_holds_the_lock_ends_at_once_for_a_run_that_cancels_it():
    beside = Beside(Overlap.CANCEL_RUNNING)
    beside.store.settle(beside.holder, end(Status.PENDING))
    run = planned(beside.store, specimens.NOON)
    assert isinstance(beside.claim(run), ClaimWon)
    ended = stored_row(beside.store, beside.holder.ref)
    assert (ended.status, ended.changed) == (Status.CANCELLED, Act(specimens.NOON, run.id))
    assert ended.kept_until == specimens.NOON + Settings().retention
