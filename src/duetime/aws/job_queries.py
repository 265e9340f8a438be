"""Queries of jobs: one by its key, a tenant's by name, all tenants' by the time of their next maintenance."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime

from duetime import instant
from duetime.aws import unreadable_items
from duetime.aws.dynamodb import SERVICE, Client, DynamoTable, cursor_parts, readable
from duetime.aws.job_history_items import from_report, from_span, report_key, to_definition_of, to_version
from duetime.aws.job_items import (
    CURRENT,
    DEFINITION,
    EDIT,
    FORMER,
    SPAN,
    from_items,
    job_key,
    job_ref_of,
)
from duetime.aws.keys import Item, partition
from duetime.aws.tables import JOB_NAMES, MAINTENANCE
from duetime.errors import BackendUnavailable, InvalidCursor, UnreadableRow
from duetime.ids import SHARDS, TenantId
from duetime.model.backfill import BackfillRef
from duetime.model.deadline_report import DeadlineReport, ReportKind
from duetime.model.job import (
    MAINTENANCE_SHARDS,
    Job,
    JobRef,
    JobSpan,
    StoredDefinition,
    Version,
    current_definition,
)
from duetime.ports.backfills import PREFIX, ref_of
from duetime.ports.job_state import STATE
from duetime.ports.jobs import JobPage

_READS = 5
_JOBS_AT_ONCE = 50
_SHARDS = tuple(SHARDS[:MAINTENANCE_SHARDS])


class JobQueries:
    """The queries of the jobs table.

    See `duetime.ports.jobs.JobStore`.
    """

    def __init__(self, client: Client, table: str) -> None:
        self._table = DynamoTable(client, table)

    def get(self, ref: JobRef) -> Job | None:
        return self._job(ref, lambda: self._current(ref, CURRENT + "~"))

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

    def versions(self, ref: JobRef) -> Sequence[Version]:
        found = self._current(ref, FORMER + "~")
        if not found:
            return []
        job = from_items(found[STATE], found[DEFINITION])
        ended = (item for name, item in found.items() if name.startswith(FORMER))
        previous = readable(ended, to_version, "version of a job")
        return [*previous, Version(number=job.version, definition=job.definition, since=job.since)]

    def definitions(self, ref: JobRef) -> Sequence[StoredDefinition]:
        found = self._current(ref, FORMER + "~")
        if not found:
            return []
        ended = (item for name, item in found.items() if name.startswith((EDIT, FORMER)))
        replaced = readable(ended, to_definition_of, "definition of a job")
        current = current_definition(from_items(found[STATE], found[DEFINITION]))
        return [*sorted(replaced, key=lambda definition: (definition.version, definition.until)), current]

    def spans(self, ref: JobRef, start: datetime, end: datetime) -> Sequence[JobSpan]:
        after = f"{SPAN}{instant.text(start)}~"
        found = readable(self._items(ref, after, SPAN + "~"), from_span, "span of a job")
        return sorted((span for span in found if span.start < end), key=lambda span: span.start)

    def reports(
        self, ref: JobRef, kind: ReportKind, start: datetime, end: datetime
    ) -> Sequence[DeadlineReport]:
        items = self._items(ref, report_key(kind, start) + "~", report_key(kind, end))
        return list(readable(items, from_report, "report of a job"))

    def _current(self, ref: JobRef, last: str) -> Mapping[str, Item]:
        """Return the job's two items and the items behind them up to `last`, by sort key.

        Empty without a job.
        """
        seen = []
        for _ in range(_READS):
            found = {item["sk"]["S"]: item for item in self._items(ref, CURRENT, last)}
            if not found or _is_consistent(found):
                return found
            seen.append(_revisions(found))
        if all(revisions == seen[0] for revisions in seen):
            problem = ValueError(f"state and definition are of revisions {seen[0]}")
            raise UnreadableRow([ref.tenant_id, ref.name], problem)
        raise BackendUnavailable(SERVICE, f"job {ref.name} changed during each of {_READS} reads")

    def _jobs(self, refs: Sequence[JobRef]) -> Iterator[Job | None]:
        """Yield the jobs in the order of `refs`, by consistent reads.

        Note an unreadable job and yield None.
        """
        for first in range(0, len(refs), _JOBS_AT_ONCE):
            some = refs[first : first + _JOBS_AT_ONCE]
            keys = [job_key(ref, name) for ref in some for name in (STATE, DEFINITION)]
            found: Mapping[JobRef, dict[str, Item]] = defaultdict(dict)
            for item in self._table.get_many(keys):
                found[job_ref_of(item)][item["sk"]["S"]] = item
            for ref in some:
                yield self._readable(ref, found[ref])

    def _readable(self, ref: JobRef, found: Mapping[str, Item]) -> Job | None:
        try:
            return self._job(ref, lambda: found) if _is_consistent(found) else self.get(ref)
        except UnreadableRow:
            return None

    def _job(self, ref: JobRef, read: Callable[[], Mapping[str, Item]]) -> Job | None:
        try:
            found = read()
            return from_items(found[STATE], found[DEFINITION]) if found else None
        except UnreadableRow as error:
            unreadable_items.note("job", job_key(ref, CURRENT), error)
            raise

    def _items(self, ref: JobRef, first: str, last: str) -> Iterator[Item]:
        return self._table.items(
            KeyConditionExpression="pk = :pk AND sk BETWEEN :first AND :last",
            ExpressionAttributeValues={
                ":pk": {"S": partition(ref.tenant_id, ref.name)},
                ":first": {"S": first},
                ":last": {"S": last},
            },
            ConsistentRead=True,
        )


def _due_ref_of(entry: Item) -> JobRef | BackfillRef:
    is_backfill = entry["sk"]["S"].startswith(PREFIX)
    return ref_of(entry["pk"]["S"], entry["sk"]["S"]) if is_backfill else job_ref_of(entry)


def _is_consistent(found: Mapping[str, Item]) -> bool:
    """Return whether state and definition belong together; a change can occur between their two reads."""
    state, definition = _revisions(found)
    return state is not None and state == definition


def _revisions(found: Mapping[str, Item]) -> list[Item | None]:
    return [found.get(name, {}).get("defined_in") for name in (STATE, DEFINITION)]


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
