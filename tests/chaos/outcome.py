"""What a run left, for the checks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import boto3

from duetime import instant
from duetime.aws.items import from_item
from duetime.aws.jobs import DynamoJobStore
from duetime.aws.keys import is_row
from duetime.errors import UnreadableRow
from duetime.ids import SYSTEM_TENANT, JobName
from duetime.model.action import Action
from duetime.model.job import JobRef, JobSpan
from duetime.settings import Settings
from tests import dynamodb_local
from tests.chaos.history import Call
from tests.chaos.roles.stream import read_shard, shards_of
from tests.chaos.shop import EVERY, LEDGER


@dataclass(frozen=True)
class Outcome:
    """What a run left.

    Attributes:
        calls: of the stores, as the processes saw them.
        changes: the records of the actions table's stream, in the order in which they were applied.
        rows: the actions, after the faults.
        unreadable: the keys of rows that no step can read.
        ledger: how often each action was committed, and under which fence last.
        ended_at: the end of the faults: what was due by then must be final.
        read_at: when the rows were read, on the clock of the calls.
        missed: the spans in which a job's nominal times were missed.
        counts: what the run was made of.
    """

    directory: Path
    settings: Settings
    calls: Sequence[Call]
    changes: Sequence[Mapping[str, Any]]
    rows: Sequence[Action]
    unreadable: Sequence[str]
    ledger: Mapping[str, tuple[int, int]]
    started_at: datetime
    ended_at: datetime
    read_at: float
    missed: Mapping[str, Sequence[JobSpan]]
    counts: Mapping[str, object]


def is_done(row: Action, ended_at: datetime) -> bool:
    """Return whether a row is final, or an occurrence that was due only after the faults."""
    return row.status.is_final or (row.job is not None and row.nominal_at > ended_at)


def rows_of(client: Any, table: str) -> list[Action]:
    """Return all actions that can be read, without the runs of the passes."""
    rows = [row for row in map(_row_of, _items(client, table)) if row is not None]
    return [row for row in rows if row.job is None or row.job.startswith("chaos-")]


def unreadable_in(client: Any, table: str) -> list[str]:
    """Return the keys of rows that no step can read."""
    rows = [item for item in _items(client, table) if is_row(item)]
    return [f"{item['pk']['S']}/{item['sk']['S']}" for item in rows if _row_of(item) is None]


def _row_of(item: Mapping[str, Any]) -> Action | None:
    try:
        return from_item(item) if is_row(item) else None
    except UnreadableRow:
        return None


def ledger_of(client: Any) -> dict[str, tuple[int, int]]:
    """Return how often each action was committed, and under which fence last."""
    return {
        item["id"]["S"]: (int(item["times"]["N"]), int(item["fence"]["N"])) for item in _items(client, LEDGER)
    }


def missed_in(client: Any, settings: Settings) -> dict[str, Sequence[JobSpan]]:
    """Return the spans in which each job's nominal times were missed."""
    jobs = DynamoJobStore(
        client, settings.made.actions_table, settings.made.jobs_table, due_shards=settings.due_shards
    )
    refs = [JobRef(SYSTEM_TENANT, JobName(name)) for name in EVERY]
    return {ref.name: jobs.spans(ref, instant.EARLIEST, instant.LATEST) for ref in refs}


def changes_of(upstream: str, table: str) -> list[Mapping[str, Any]]:
    """Return all records of a table's stream, in the order in which DynamoDB applied the writes."""
    client = boto3.client("dynamodbstreams", endpoint_url=upstream, **dynamodb_local.CREDENTIALS)
    found = [record for arn, shard in shards_of(client, table) for record in _records(client, arn, shard)]
    return sorted(found, key=lambda record: int(record["SequenceNumber"]))


def _records(client: Any, arn: str, shard: str) -> Iterator[Mapping[str, Any]]:
    last: str | None = None
    while True:
        records, last = read_shard(client, arn, shard, last)
        if last is None:
            return
        yield from (record["dynamodb"] for record in records)


def _items(client: Any, table: str) -> Iterator[Mapping[str, Any]]:
    for page in client.get_paginator("scan").paginate(TableName=table, ConsistentRead=True):
        yield from page["Items"]
