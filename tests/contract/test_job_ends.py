"""The end of a job's run: its payload outlives its row, and what could not be ended keeps its place."""

from dataclasses import replace
from datetime import timedelta

import pytest

from duetime.aws.jobs import DynamoJobStore
from duetime.aws.keys import payload_key
from duetime.aws.payloads import DynamoPayloads
from duetime.aws.tables import JOBS, create_table_request
from duetime.errors import BackendUnavailable
from duetime.model.action import Status
from duetime.model.transition import cancelled
from duetime.settings import DUE_SHARDS
from duetime_contract.job_specimens import added, ended, planned, stored_job, taken, taking
from duetime_contract.scheduling import LARGE
from duetime_contract.specimens import CALLER, HOUR, NOON, end, stored_row
from tests.contract.sent_requests import sent_by

KEPT_UNTIL = NOON + timedelta(days=3_650)


@pytest.fixture
def jobs(table):
    table.client.create_table(**create_table_request(JOBS, "duetime-jobs"))
    yield DynamoJobStore(table.client, table.name, "duetime-jobs", due_shards=DUE_SHARDS)
    table.client.delete_table(TableName="duetime-jobs")


@pytest.fixture
def job(jobs):
    return added(jobs)


@pytest.fixture
def run(table, jobs, job):
    """A run with a large payload."""
    store = table.store()
    row = planned(store, payload=LARGE, payload_size=len(LARGE))
    assert jobs.claim(taking(row, job))
    return stored_row(store, row.ref)


def settle(_store, jobs, run, job):
    jobs.settle(run, replace(end(Status.EXECUTED), kept_until=KEPT_UNTIL), job.ref, ended(run))


def cancel_the_retry(store, jobs, run, job):
    store.settle(run, end(Status.PENDING))
    row = stored_row(store, run.ref)
    assert jobs.end_pending(row, cancelled(row, by="ops", at=NOON, kept_until=KEPT_UNTIL), job.ref)


ENDS = pytest.mark.parametrize("ends", [settle, cancel_the_retry])


@ENDS
def test_a_payload_outlives_the_row_of_a_jobs_run(table, jobs, run, job, ends):
    ends(table.store(), jobs, run, job)
    assert stored_row(table.store(), run.ref).kept_until == KEPT_UNTIL
    item = table.client.get_item(TableName=table.name, Key=payload_key(run.ref), ConsistentRead=True)["Item"]
    assert int(item["ttl"]["N"]) > KEPT_UNTIL.timestamp()


@pytest.fixture
def _payloads_cannot_be_extended(monkeypatch):
    def fail(_payloads, _read, after):
        if after.kept_until is not None:
            raise BackendUnavailable("the actions table", "it is throttled")

    monkeypatch.setattr(DynamoPayloads, "outlive", fail)


@ENDS
@pytest.mark.usefixtures("_payloads_cannot_be_extended")
def test_a_jobs_run_ends_only_after_its_payload_has_the_longer_time_to_live(table, jobs, run, job, ends):
    with pytest.raises(BackendUnavailable):
        ends(table.store(), jobs, run, job)
    assert not stored_row(table.store(), run.ref).status.is_final
    assert stored_job(jobs, job.ref).running == run.ref


def test_a_run_that_lost_its_lease_learns_so_by_one_request(table, jobs, run, job):
    table.store().settle(run, end(Status.EXECUTED))
    with sent_by(table.client) as sent:
        jobs.settle(run, end(Status.FAILED), job.ref, ended(run, Status.FAILED))
    assert sent == ["TransactWriteItems"]


def test_a_run_that_has_changed_since_the_read_keeps_its_place(table, jobs, job):
    store = table.store()
    holder, row = taken(store, jobs, job), planned(store, NOON + HOUR)
    assert jobs.wait(stored_job(jobs, job.ref), row.ref)
    store.reschedule(row, NOON + 2 * HOUR, by=CALLER, at=NOON)
    assert not jobs.end_pending(row, cancelled(row, by="ops", at=NOON, kept_until=KEPT_UNTIL), job.ref)
    assert (stored_job(jobs, job.ref).running, stored_job(jobs, job.ref).waiting) == (holder.ref, row.ref)
