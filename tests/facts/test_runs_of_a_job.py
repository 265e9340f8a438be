"""Which rows are runs of a job in progress, and which ones its planner may have written."""

from dataclasses import replace

import pytest

from duetime import ids
from duetime.model.action import ActionRef, Status
from duetime.ports.actions import DamagedRow
from duetime.worker.claim_job_run import _could_plan, _is_run_of
from tests.facts.claim_decisions import EVENT, HOURLY, NAME, NOON, job, row, running

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
    assert _could_plan(definition, replace(row(), **changed), its_job.anchor) is expected
