"""Jobs in DynamoDB, and their queries: a tenant's by name, all tenants' by their next maintenance."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime

from duetime import instant
from duetime.aws import unreadable_items
from duetime.aws.dynamodb import Client, DynamoTable
from duetime.aws.job_items import job_key, job_ref_of
from duetime.aws.keyed_items import DynamoItems, ItemFields
from duetime.aws.keys import Item
from duetime.aws.row_entries import RowEntries
from duetime.aws.store import DynamoStore
from duetime.aws.tables import JOB_NAMES, MAINTENANCE
from duetime.errors import InvalidCursor, UnreadableRow
from duetime.ids import SHARDS, TenantId
from duetime.model.backfill import BackfillRef
from duetime.model.job import MAINTENANCE_SHARDS, Job, JobRef
from duetime.ports.backfills import PREFIX, ref_of
from duetime.ports.job_state import CURRENT, DEFINITION, JOB, STATE
from duetime.ports.job_store import JobStore, is_consistent, to_job
from duetime.ports.jobs import JobPage
from duetime.ports.keyed_items import Fields
from duetime.ports.row_queries import cursor_parts

_JOBS_AT_ONCE = 50
_SHARDS = tuple(SHARDS[:MAINTENANCE_SHARDS])


class DynamoJobStore(JobStore):
    """The jobs table, and the rows of the actions table that change together with a job.

    See `duetime.ports.job_store.JobStore`.
    """

    def __init__(self, client: Client, actions_table: str, jobs_table: str, *, due_shards: int) -> None:
        items = DynamoItems(client, jobs_table, RowEntries(client, actions_table))
        super().__init__(items, DynamoStore(client, actions_table, due_shards=due_shards))
        self._table = DynamoTable(client, jobs_table)

    def get(self, ref: JobRef) -> Job | None:
        return self._noted(ref, lambda: self._current(ref, CURRENT + "~"))

    def list(self, tenant_id: TenantId, *, limit: int, cursor: str | None) -> JobPage:
        answer = self._table.query(
            IndexName=JOB_NAMES.name,
            KeyConditionExpression="tenant = :tenant AND #name > :after",
            ExpressionAttributeNames={"#name": "name"},
            ExpressionAttributeValues={":tenant": {"S": tenant_id}, ":after": {"S": cursor or " "}},
            Limit=limit,
        )
        refs = [job_ref_of(entry) for entry in answer["Items"]]
        own = [ref for ref in refs if ref.tenant_id == tenant_id]
        jobs = tuple(job for job in self._jobs(own) if job is not None)
        more = "LastEvaluatedKey" in answer
        return JobPage(jobs, refs[-1].name if more and refs else None)

    def due_for_maintenance(
        self, until: datetime, *, limit: int, cursor: str | None
    ) -> tuple[Sequence[JobRef | BackfillRef], str | None]:
        shard, start = _maintenance_start(cursor)
        refs: list[JobRef | BackfillRef] = []
        while shard < len(_SHARDS):
            answer = self._table.query(
                IndexName=MAINTENANCE.name,
                KeyConditionExpression="maintenance_shard = :shard AND maintain_at <= :until",
                ExpressionAttributeValues={
                    ":shard": {"S": _SHARDS[shard]},
                    ":until": {"S": instant.text(until)},
                },
                Limit=limit - len(refs),
                **start,
            )
            refs += [_due_ref_of(entry) for entry in answer["Items"]]
            last: Item | None = answer.get("LastEvaluatedKey")
            if last is None:
                shard, start = shard + 1, {}
            else:
                start = {"ExclusiveStartKey": last}
            if len(refs) >= limit:
                break
        return refs, None if shard == len(_SHARDS) else _maintenance_cursor(shard, start)

    def _jobs(self, refs: Sequence[JobRef]) -> Iterator[Job | None]:
        """Yield the jobs in the order of `refs`, by consistent reads.

        Note an unreadable job and yield None.
        """
        for first in range(0, len(refs), _JOBS_AT_ONCE):
            some = refs[first : first + _JOBS_AT_ONCE]
            keys = [job_key(ref, name) for ref in some for name in (STATE, DEFINITION)]
            found: Mapping[JobRef, dict[str, Fields]] = defaultdict(dict)
            for item in self._table.get_many(keys):
                found[job_ref_of(item)][item["sk"]["S"]] = ItemFields(JOB, item)
            for ref in some:
                yield self._readable(ref, found[ref])

    def _readable(self, ref: JobRef, found: Mapping[str, Fields]) -> Job | None:
        try:
            return self._noted(ref, lambda: found) if is_consistent(found) else self.get(ref)
        except UnreadableRow:
            return None

    def _noted(self, ref: JobRef, read: Callable[[], Mapping[str, Fields]]) -> Job | None:
        try:
            found = read()
            return to_job(found) if found else None
        except UnreadableRow as error:
            unreadable_items.note("job", job_key(ref, CURRENT), error)
            raise


def _due_ref_of(entry: Item) -> JobRef | BackfillRef:
    is_backfill = entry["sk"]["S"].startswith(PREFIX)
    return ref_of(entry["pk"]["S"], entry["sk"]["S"]) if is_backfill else job_ref_of(entry)


def _maintenance_cursor(shard: int, start: Mapping[str, Item]) -> str:
    last = start.get("ExclusiveStartKey", {})
    return json.dumps(
        [_SHARDS[shard], *(last[name]["S"] for name in ("maintain_at", "pk", "sk") if name in last)]
    )


def _maintenance_start(cursor: str | None) -> tuple[int, dict[str, Item]]:
    if cursor is None:
        return 0, {}
    match cursor_parts(cursor):
        case [shard] if shard in _SHARDS:
            return _SHARDS.index(shard), {}
        case [shard, maintain_at, pk, sk] if shard in _SHARDS:
            last = {"maintenance_shard": shard, "maintain_at": maintain_at, "pk": pk, "sk": sk}
            key = {name: {"S": text} for name, text in last.items()}
            return _SHARDS.index(shard), {"ExclusiveStartKey": key}
        case _:
            raise InvalidCursor
