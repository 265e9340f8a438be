"""A claim finds the runs that began without the lock, over each back end."""

from dataclasses import replace

import pytest

from duetime.ids import SYSTEM_TENANT
from duetime.model.action import Status
from duetime.model.job import Overlap, job_ref_of
from duetime.ports.jobs import LockRequirement
from duetime.retry import NEVER
from duetime.worker.claim_job_run import ClaimJobRun, find_unlocked
from duetime.worker.claim_results import ClaimWon, Waiting
from duetime_contract.job_specimens import (
    NIGHTLY,
    added,
    event_run,
    nightly,
    occurrence,
    planned,
    stored_job,
    taking,
)
from duetime_contract.specimens import GLOBEX, HOUR, MINUTE, NOON, end, put, stored_row, terms
from tests.backends import backends
from tests.hooked import Hooked
from tests.unpaused import UNPAUSED

CADENCES = ("daily 12:00 tz=UTC", "on_event orders OrderPlaced tenant=detail.tenant")


def begun(back_end, job, row):
    """A run that has begun without the lock."""
    assert back_end.jobs.claim(taking(put(back_end.store, row), job, LockRequirement.NOTHING))
    return stored_row(back_end.store, row.ref)


def test_no_shard_is_read_before_the_search_may_begin(back_end):
    store = Hooked(back_end.store)
    store.hooks["due"] = lambda _due, *given, **_more: pytest.fail(f"it reads {given}")
    definition = replace(nightly().definition, overlap=Overlap.SKIP)
    job = added(back_end.jobs, definition=definition, unlocked_since=NOON - MINUTE)
    assert find_unlocked(store, job, occurrence(store).ref, terms(NOON)) is None


def test_runs_of_any_tenant_and_age_that_began_without_the_lock_are_its_holders(back_end):
    store, jobs = back_end.store, back_end.jobs
    claims = ClaimJobRun(backends(store, jobs=jobs), UNPAUSED)
    definition = replace(nightly().definition, cadences=CADENCES, overlap=Overlap.SKIP)
    job = added(jobs, tenant_id=SYSTEM_TENANT, definition=definition, unlocked_since=NOON - 2 * MINUTE)
    older = begun(back_end, job, occurrence(store, NOON - 900 * HOUR, tenant_id=SYSTEM_TENANT))
    theirs = event_run(store, "event-1", NOON - HOUR, tenant_id=GLOBEX, job_tenant=SYSTEM_TENANT)
    theirs = begun(back_end, job, theirs)
    assert {job_ref_of(older), job_ref_of(theirs)} == {job.ref}

    def claim(at):
        row = planned(store, at, tenant_id=SYSTEM_TENANT, job=NIGHTLY)
        return row, claims(row.ref, terms(at), NEVER)

    for run in (older, theirs):
        assert store.renew(run, NOON + 2 * HOUR) is not None
    row, outcome = claim(NOON)
    assert (outcome, stored_row(store, row.ref).note) == (None, f"{theirs.id} was running")
    store.settle(theirs, end(Status.EXECUTED))
    row, outcome = claim(NOON + MINUTE)
    assert (outcome, stored_row(store, row.ref).note) == (None, f"{older.id} was running")
    row, outcome = claim(NOON + 3 * HOUR)
    assert isinstance(outcome, ClaimWon)
    assert store.renew(older, NOON + 4 * HOUR) is None
    after = stored_job(jobs, job.ref)
    assert (after.running, after.unlocked_since) == (row.ref, None)


def test_a_claim_just_after_the_change_waits_and_changes_nothing(back_end):
    job = added(back_end.jobs, unlocked_since=NOON - MINUTE)
    row = planned(back_end.store)
    claims = ClaimJobRun(backends(back_end.store, jobs=back_end.jobs), UNPAUSED)
    assert isinstance(claims(row.ref, terms(NOON), NEVER), Waiting)
    assert (stored_row(back_end.store, row.ref), stored_job(back_end.jobs, job.ref)) == (row, job)
