"""Backfills in DynamoDB: what their condition and their query exclude."""

from dataclasses import replace

import pytest

from duetime.aws import unreadable_items
from duetime.aws.jobs import DynamoJobStore
from duetime.settings import DUE_SHARDS
from duetime_contract.job_specimens import added
from tests.contract.rules.backfills import backfill, begun


@pytest.fixture
def jobs(jobs_table):
    client, table = jobs_table
    return DynamoJobStore(client, "unused", table, due_shards=DUE_SHARDS)


def test_a_change_with_a_revision_that_never_existed_is_rejected(jobs):
    first = begun(jobs, added(jobs))
    never = replace(first, revision=first.revision + 1)
    assert not jobs.change_backfill(never, replace(never, executed=1, revision=never.revision + 1))
    assert jobs.find_backfill(first.ref) == first


def test_the_list_of_backfills_reads_no_other_item_of_the_job(jobs):
    job = added(jobs)
    with unreadable_items.collecting() as found:
        assert jobs.backfills(job.ref) == []
        only = begun(jobs, job, backfill(job).id)
        assert jobs.backfills(job.ref) == [only]
    assert found == []
