"""Backfills in DynamoDB: the transaction that begins one, and increases its job's revision."""

from __future__ import annotations

from functools import partial

from duetime.aws.dynamodb import Client
from duetime.aws.faults import TransactionFailed
from duetime.aws.keyed_items import DynamoItems
from duetime.aws.transactions import retry_on_conflict, write
from duetime.model.backfill import Backfill
from duetime.model.job import Job
from duetime.ports import job_state
from duetime.ports.backfills import Backfills, backfill_put
from duetime.ports.keyed_items import IS_NEW


class DynamoBackfills(Backfills):
    """The backfills of a jobs table.

    See `duetime.ports.jobs.JobStore`.
    """

    def __init__(self, client: Client, table: str) -> None:
        self._table = DynamoItems(client, table)
        super().__init__(self._table)

    def begin_backfill(self, job: Job, backfill: Backfill) -> bool:
        writes = backfill_put(backfill, guard=IS_NEW), job_state.next_revision(job)
        entries = [self._table.entry(one) for one in writes]
        try:
            retry_on_conflict(partial(write, self._table.client, entries))
        except TransactionFailed:
            present = self.find_backfill(backfill.ref)
            begun = (backfill.begun_at, backfill.begun_by)
            return present is not None and (present.begun_at, present.begun_by) == begun
        return True
