"""Backfills in DynamoDB: one item for each, in its job's partition, which every write replaces as a whole.

::

    begin   if it is absent, and the job's revision is as read -> backfill, the job's next revision
    change  if its revision is as read                         -> backfill

While the sweep has to look at it, the item is in the index of jobs by their next maintenance. So a pass finds
it by the query that it makes anyway.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from duetime import ids, instant
from duetime.aws import job_conditions
from duetime.aws.conditions import ROW_IS_ABSENT
from duetime.aws.dynamodb import Client, DynamoTable, readable
from duetime.aws.faults import ConditionFailed, TransactionFailed
from duetime.aws.items import to_epoch
from duetime.aws.job_items import BACKFILL, STATE, at, job_key, job_ref_of
from duetime.aws.keys import Item, partition
from duetime.aws.row_checks import COUNT_LIMIT, UNREADABLE, read_instant
from duetime.aws.transactions import put, retry_on_conflict, update, write
from duetime.errors import UnreadableRow
from duetime.model.backfill import (
    MOST_AT_ONCE,
    MOST_TIMES,
    Backfill,
    BackfillOrder,
    BackfillRef,
    BackfillState,
)
from duetime.model.job import Job, JobRef, maintenance_shard_of

BACKFILL_IS_AS_READ = "revision = :read"

_OUTLIVES = timedelta(days=400)
"""How long the item of an ended backfill stays, as a former version does."""

_INSTANTS = ("start", "until", "begun_at", "rest_from", "rest_until")
_LATER_INSTANTS = ("changed_at", "ended_at")
_COUNTS = ("executed", "failed", "skipped", "cancelled", "left_out")


class DynamoBackfills:
    """The backfills of a jobs table.

    See `duetime.ports.jobs.JobStore`.
    """

    def __init__(self, client: Client, table: str) -> None:
        self._table = DynamoTable(client, table)

    def begin_backfill(self, job: Job, backfill: Backfill) -> bool:
        entries = [
            put(self._table.name, to_backfill_item(backfill), ConditionExpression=ROW_IS_ABSENT),
            update(self._table.name, job_key(job.ref, STATE), job_conditions.next_revision(job)),
        ]
        try:
            retry_on_conflict(partial(write, self._table.client, entries))
        except TransactionFailed:
            present = self.find_backfill(backfill.ref)
            begun = (backfill.begun_at, backfill.begun_by)
            return present is not None and (present.begun_at, present.begun_by) == begun
        return True

    def find_backfill(self, ref: BackfillRef) -> Backfill | None:
        key = _key(ref)
        items = self._table.items(  # a query: the roles of jobs have no right on single items
            KeyConditionExpression="pk = :pk AND sk = :sk",
            ExpressionAttributeValues={":pk": key["pk"], ":sk": key["sk"]},
            ConsistentRead=True,
        )
        return next(map(from_backfill_item, items), None)

    def backfills(self, ref: JobRef) -> Sequence[Backfill]:
        items = self._table.items(
            KeyConditionExpression="pk = :pk AND begins_with(sk, :backfill)",
            ExpressionAttributeValues={
                ":pk": {"S": partition(ref.tenant_id, ref.name)},
                ":backfill": {"S": BACKFILL},
            },
            ConsistentRead=True,
        )
        found = readable(items, from_backfill_item, "backfill")
        return sorted(found, key=lambda backfill: (backfill.begun_at, backfill.id), reverse=True)

    def change_backfill(self, read: Backfill, changed: Backfill) -> bool:
        try:
            self._table.put(
                to_backfill_item(changed),
                ConditionExpression=BACKFILL_IS_AS_READ,
                ExpressionAttributeValues={":read": {"N": str(read.revision)}},
            )
        except ConditionFailed:
            return self.find_backfill(read.ref) == changed
        return True


def _key(ref: BackfillRef) -> Item:
    return job_key(ref.job, f"{BACKFILL}{ref.id}")


def to_backfill_item(backfill: Backfill) -> Item:
    """Return the item of a backfill."""
    later = {name: at(when) for name in _LATER_INSTANTS if (when := getattr(backfill, name)) is not None}
    item: Item = {
        **_key(backfill.ref),
        **{name: at(getattr(backfill, name)) for name in _INSTANTS},
        **later,
        **{name: {"N": str(count)} for name in _COUNTS if (count := getattr(backfill, name))},
        "version": {"N": str(backfill.version)},
        "order": {"S": backfill.order.value},
        "at_once": {"N": str(backfill.at_once)},
        "total": {"N": str(backfill.total)},
        "begun_by": {"S": backfill.begun_by},
        "state": {"S": backfill.state.value},
        "revision": {"N": str(backfill.revision)},
    }
    if backfill.again:
        item["again"] = {"BOOL": True}
    if backfill.open:
        item["open"] = {"S": " ".join(to_epoch(when) for when in backfill.open)}
    if backfill.changed_by is not None:
        item["changed_by"] = {"S": backfill.changed_by}
    if backfill.needs_steps:
        item |= {
            "maintenance_shard": {"S": maintenance_shard_of(backfill.ref.job)},
            "maintain_at": at(backfill.begun_at),
        }
    if backfill.ended_at is not None:
        item["ttl"] = {"N": to_epoch(backfill.ended_at + _OUTLIVES)}
    return item


def from_backfill_item(item: Item) -> Backfill:
    """Return the backfill of an item.

    Raises:
        UnreadableRow: duetime did not write it.
    """
    try:
        return _read(item)
    except UNREADABLE as error:
        raise UnreadableRow([item.get("pk"), item.get("sk")], error) from error


def backfill_ref_of(item: Item) -> BackfillRef:
    """Return the backfill of an item or an index entry."""
    return BackfillRef(job_ref_of(item), item["sk"]["S"].removeprefix(BACKFILL))


def _read(item: Item) -> Backfill:
    given: dict[str, Any] = {
        **{name: instant.parse(item[name]["S"]) for name in _INSTANTS},
        **{name: read_instant(item, name) for name in _LATER_INSTANTS if name in item},
        **{name: int(item[name]["N"]) for name in _COUNTS if name in item},
    }
    backfill = Backfill(
        ref=backfill_ref_of(item),
        version=int(item["version"]["N"]),
        order=BackfillOrder(item["order"]["S"]),
        at_once=int(item["at_once"]["N"]),
        again="again" in item,
        total=int(item["total"]["N"]),
        begun_by=item["begun_by"]["S"],
        state=BackfillState(item["state"]["S"]),
        open=tuple(_second(text) for text in item["open"]["S"].split(" ")) if "open" in item else (),
        changed_by=item["changed_by"]["S"] if "changed_by" in item else None,
        revision=int(item["revision"]["N"]),
        **given,
    )
    counts = [getattr(backfill, name) for name in _COUNTS]
    if not ids.is_backfill_id(backfill.id):
        raise ValueError(f"sk names the backfill {backfill.id!r}")
    if not (1 <= backfill.at_once <= MOST_AT_ONCE and len(backfill.open) <= MOST_AT_ONCE):
        raise ValueError(f"at_once is {backfill.at_once}, with {len(backfill.open)} open runs")
    if not (0 <= backfill.total <= MOST_TIMES and all(0 <= count <= COUNT_LIMIT for count in counts)):
        raise ValueError(f"total is {backfill.total}, the counts are {counts}")
    return backfill


def _second(text: str) -> datetime:
    return datetime.fromtimestamp(int(text), UTC)
