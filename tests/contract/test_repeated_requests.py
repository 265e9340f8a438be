"""botocore repeats a request whose response was lost, and another caller's change comes between the two."""

from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace

import pytest

from duetime.aws.jobs import DynamoJobStore
from duetime.aws.store import DynamoStore
from duetime.aws.tables import JOBS, create_table_request
from duetime.errors import BackendUnavailable
from duetime.model.action import Status
from duetime.model.job import WHOLE_JOB, Pause
from duetime.model.lease import Rejected
from duetime.ports.jobs import LockRequirement
from duetime.settings import DUE_SHARDS
from duetime_contract.job_specimens import ended, nightly, taken
from duetime_contract.specimens import (
    CALLER,
    EXPIRY,
    HOUR,
    NOON,
    SECOND,
    claim,
    end,
    running,
    scheduled,
    stored_row,
)
from tests.contract.conftest import LOCAL, MOTO
from tests.contract.networks import repeating

OF_A_CLIENT = pytest.mark.parametrize("jobs_table", [MOTO, LOCAL], indirect=True)
"""SQLite repeats no request."""


@pytest.fixture
def client(table):
    """The client itself: a repeat of botocore's happens within one call."""
    return getattr(table.client, "_client", table.client)


@pytest.fixture
def store(table, client):
    return DynamoStore(client, table.name, due_shards=DUE_SHARDS)


def test_a_repeated_reschedule_does_not_undo_a_later_one(store, client):
    action = scheduled(store)

    def moves_again():
        store.reschedule(stored_row(store, action.ref), NOON + 2 * HOUR, by="another", at=NOON + SECOND)

    with repeating(client, "UpdateItem", moves_again):
        outcome = store.reschedule(action, NOON + HOUR, by=CALLER, at=NOON)
    assert outcome == Rejected(stored_row(store, action.ref))
    assert stored_row(store, action.ref).due_at == NOON + 2 * HOUR


def test_a_repeated_redrive_does_not_run_an_action_that_failed_again(store, client):
    run = running(store)
    store.settle(run, end(Status.FAILED))

    def runs_and_fails():
        store.settle(claim(store, run.ref, NOON + HOUR), end(Status.FAILED, NOON + HOUR))

    with repeating(client, "UpdateItem", runs_and_fails):
        outcome = store.redrive(stored_row(store, run.ref), NOON + HOUR, by=CALLER, at=NOON)
    assert isinstance(outcome, Rejected) or outcome.action.status is Status.PENDING
    assert stored_row(store, run.ref).status is Status.FAILED


def test_a_cancel_that_its_caller_gave_up_does_not_end_a_rescheduled_action(store):
    action = scheduled(store)
    store.reschedule(action, NOON + HOUR, by="another", at=NOON)
    assert isinstance(store.cancel(action, by=CALLER, at=NOON, kept_until=EXPIRY), Rejected)
    assert stored_row(store, action.ref).status is Status.PENDING


@pytest.fixture
def jobs(jobs_table):
    client, name = jobs_table
    client = getattr(client, "_client", client)
    store = DynamoJobStore(client, "duetime-actions", name, due_shards=DUE_SHARDS)
    job = nightly()
    store.add(job)
    return SimpleNamespace(client=client, store=store, job=store.get(job.ref))


def paused(job):
    return replace(job, pauses={WHOLE_JOB: Pause(since=NOON, by=CALLER, reason="stock-taking")})


@OF_A_CLIENT
def test_a_repeated_pause_does_not_undo_the_end_of_the_pause(jobs):
    def resumes():
        job = jobs.store.get(jobs.job.ref)
        assert jobs.store.change(job, replace(job, pauses={}))

    with (
        repeating(jobs.client, "UpdateItem", resumes),
        pytest.raises(BackendUnavailable, match="has changed since this change was first sent"),
    ):
        jobs.store.change(jobs.job, paused(jobs.job))
    assert not jobs.store.get(jobs.job.ref).pauses


@OF_A_CLIENT
def test_a_repeated_pause_without_a_later_change_succeeds(jobs):
    with repeating(jobs.client, "UpdateItem", lambda: None):
        assert jobs.store.change(jobs.job, paused(jobs.job))
    assert jobs.store.get(jobs.job.ref).revision == jobs.job.revision + 1


@OF_A_CLIENT
def test_a_repeated_registration_does_not_undo_a_later_one(jobs):
    def redefined(job, title):
        return replace(job, definition=replace(job.definition, title=title))

    def replaces():
        job = jobs.store.get(jobs.job.ref)
        assert jobs.store.change(job, redefined(job, "later"))

    with repeating(jobs.client, "TransactWriteItems", replaces):
        jobs.store.change(jobs.job, redefined(jobs.job, "earlier"))
    assert jobs.store.get(jobs.job.ref).definition.title == "later"


def test_a_late_postponement_does_not_delay_a_job_that_was_maintained_since(jobs):
    job = jobs.job
    assert jobs.store.move_cursor(job, job.cursor + HOUR, job.maintain_at + HOUR)
    assert not jobs.store.postpone(job, job.maintain_at + 9 * HOUR, failures=1)
    assert jobs.store.get(job.ref).maintain_at == job.maintain_at + HOUR


def test_a_repeated_settle_counts_an_overlapping_run_once(client, store):
    with overlapping(client) as (jobs, job):
        run = taken(store, jobs, job, hold=LockRequirement.UNCHANGED)
        with repeating(client, "TransactWriteItems", lambda: None):
            jobs.settle(run, end(Status.EXECUTED), job.ref, ended(run), has_lock=False)
        assert jobs.get(job.ref).tally.executed == 1


@contextmanager
def overlapping(client):
    client.create_table(**create_table_request(JOBS, "duetime-jobs"))
    jobs = DynamoJobStore(client, "duetime-actions", "duetime-jobs", due_shards=DUE_SHARDS)
    job = nightly()
    jobs.add(job)
    yield jobs, jobs.get(job.ref)
    client.delete_table(TableName="duetime-jobs")
