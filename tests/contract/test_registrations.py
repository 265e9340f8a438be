"""Registrations under a key, over each back end that duetime has: for its time to live the same is one."""

from datetime import timedelta

import pytest

from duetime.errors import StateConflict
from duetime.ids import TenantId
from duetime.jobs.jobs import Jobs
from duetime.jobs.register import Registration
from duetime.jobs.tenant_context import TenantContext
from duetime.memory.notes import MemoryRoutes
from duetime.model.manifest import Manifest
from duetime.ports.job_store import JobPorts
from duetime.settings import Settings
from duetime.testing import TurnedClock
from duetime_contract.races import CROWD, together
from duetime_contract.specimens import ACME, GLOBEX, HOUR, NOON, SECOND

REPORT = Registration(
    name="acme-report", handler="make-report", idempotency_key="k-1", idempotency_ttl=timedelta(hours=1)
)


@pytest.fixture
def clock():
    return TurnedClock(NOON)


@pytest.fixture
def jobs_of(back_end, clock):
    """A tenant's jobs."""
    manifest = Manifest(worker="main", types={"make-report": 1})

    def made(tenant_id: TenantId) -> Jobs:
        ports = JobPorts(back_end.jobs, MemoryRoutes([manifest]))
        context = TenantContext(
            store=back_end.store, tenant_id=tenant_id, actor="ann", clock=clock, settings=Settings()
        )
        return Jobs(context, ports)

    return made


def test_a_key_is_one_registration_until_its_time_has_passed(jobs_of, clock):
    mine = jobs_of(ACME)
    first = mine.register(REPORT)
    clock.wait_until(NOON + HOUR - SECOND)
    assert mine.register(REPORT).revision == first.revision
    clock.wait_until(NOON + HOUR)
    with pytest.raises(StateConflict, match="is taken"):
        mine.register(REPORT)


def test_each_tenant_has_its_own_keys(jobs_of, clock):
    mine, theirs = jobs_of(ACME), jobs_of(GLOBEX)
    mine.register(REPORT)
    clock.wait_until(NOON + HOUR / 2)
    theirs.register(REPORT)
    clock.wait_until(NOON + HOUR)
    assert theirs.register(REPORT).registered_at == NOON + HOUR / 2
    with pytest.raises(StateConflict, match="is taken"):
        mine.register(REPORT)


def test_a_job_that_many_register_and_trigger_at_once_under_one_key_runs_once(jobs_of):
    mine = jobs_of(ACME)
    registered = together([lambda: mine.register_and_trigger(REPORT)] * CROWD)
    [run] = mine.history("acme-report")
    assert {registration.run.id for registration in registered} == {run.id}
