"""Batches in DynamoDB: one item for each, which every write replaces as a whole, if its version is as read.

::

    open    if the batch is absent        -> batch, its completion action
    change  if its version is as read     -> batch

An item that is not complete is in the due index, at the end of its times: there the sweep finds it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from typing import Any

from duetime import ids, instant
from duetime.aws.conditions import ROW_IS_ABSENT
from duetime.aws.dynamodb import Client, DynamoTable, readable
from duetime.aws.faults import ConditionFailed, TransactionCancelled, TransactionFailed
from duetime.aws.items import to_epoch
from duetime.aws.keys import BATCHES, Item, batch_key, partition
from duetime.aws.payloads import DynamoPayloads
from duetime.aws.row_checks import COUNT_LIMIT, UNREADABLE, read_instant
from duetime.aws.transactions import put, retry_on_conflict, write
from duetime.errors import UnreadableRow
from duetime.ids import SEPARATOR, ActionId, TenantId
from duetime.model.action import Action, Status
from duetime.model.batch import (
    COUNTED_AT,
    COUNTING_SHARD,
    MOST_MEMBERS,
    SHORT_LIST,
    ActionBatch,
    BatchRef,
    Counts,
    MemberStatus,
)
from duetime.ports.actions import BatchPage

BATCH_IS_ABSENT = "attribute_not_exists(pk)"
BATCH_IS_AS_READ = "version = :read"

_INSTANTS = ("opened_at", "closed_at", "completed_at", "counted_at", "restarted_at", "recount_at")
_TEXTS = ("first_id", "version", "opened_by", "on_complete", "closed_by")
_NUMBERS = ("size", "prefix")
_COUNTS = ("counts", "prefix_counts")
_MOST_FOLLOWERS = 1_000


class DynamoBatches:
    """The batches of an actions table.

    See `duetime.ports.actions.ActionStore`.
    """

    def __init__(
        self,
        client: Client,
        table: str,
        to_item: Callable[[Action], Item],
        payloads: DynamoPayloads,
    ) -> None:
        self._table, self._to_item, self._payloads = DynamoTable(client, table), to_item, payloads

    def open_batch(self, batch: ActionBatch, completion: Action | None) -> ActionBatch:
        table = self._table.name
        entries = [put(table, to_batch_item(batch), ConditionExpression=BATCH_IS_ABSENT)]
        if completion is not None:
            if completion.payload_offloaded:
                self._payloads.put(completion)
            entries.append(put(table, self._to_item(completion), ConditionExpression=ROW_IS_ABSENT))
        try:
            retry_on_conflict(partial(write, self._table.client, entries), TransactionCancelled)
        except TransactionFailed:
            present = self.find_batch(batch.ref)
            if present is None:
                raise
            if (
                completion is not None
                and completion.payload_offloaded
                and present.on_complete != completion.id
            ):
                self._payloads.remove(completion.ref)  # no row has it
            return present
        return batch

    def find_batch(self, ref: BatchRef) -> ActionBatch | None:
        item = self._table.get(batch_key(ref.tenant_id, ref.name))
        return None if item is None else from_batch_item(item)

    def change_batch(self, read: ActionBatch, changed: ActionBatch) -> bool:
        try:
            self._table.put(
                to_batch_item(changed),
                ConditionExpression=BATCH_IS_AS_READ,
                ExpressionAttributeValues={":read": {"S": read.version}},
            )
        except ConditionFailed:
            present = self.find_batch(read.ref)
            return present is not None and present.version == changed.version
        return True

    def batches(self, tenant_id: TenantId, *, limit: int, cursor: str | None) -> BatchPage:
        items = self._table.items(
            KeyConditionExpression="pk = :batches AND sk > :after",
            ExpressionAttributeValues={
                ":batches": {"S": partition(tenant_id, BATCHES)},
                ":after": {"S": cursor or " "},
            },
            Limit=limit + 1,
        )
        found = tuple(islice(readable(items, from_batch_item, "batch"), limit + 1))
        return BatchPage(found[:limit], found[limit - 1].name if len(found) > limit else None)

    def member_statuses(
        self, batch: ActionBatch, shard: str, start: int, stop: int
    ) -> Mapping[int, MemberStatus]:
        if stop <= start:
            return {}
        items = self._table.items(
            KeyConditionExpression="pk = :pk AND sk BETWEEN :first AND :last",
            ExpressionAttributeValues={
                ":pk": {"S": partition(batch.tenant_id, shard)},
                ":first": {"S": batch.member(start).id},
                ":last": {"S": batch.member(stop - 1).id},
            },
            ExpressionAttributeNames={"#status": "status"},
            ProjectionExpression="sk, #status, redriven_after, changed_at",
            ConsistentRead=True,
        )
        return dict(readable(items, _status_of, "member"))


def to_batch_item(batch: ActionBatch) -> Item:
    """Return the item of a batch."""
    item: Item = {
        **batch_key(batch.tenant_id, batch.name),
        "due_at": {"S": instant.text(COUNTED_AT)},  # with it, arm receives each write
        **{name: {"S": instant.text(at)} for name in _INSTANTS if (at := getattr(batch, name)) is not None},
        **{name: {"S": text} for name in _TEXTS if (text := getattr(batch, name)) is not None},
        **{name: {"N": str(getattr(batch, name))} for name in _NUMBERS},
        **{name: {"S": _joined(getattr(batch, name))} for name in _COUNTS},
    }
    if batch.is_swept:
        item["due_shard"] = {"S": COUNTING_SHARD}
    if batch.followers:
        item["followers"] = {"S": _joined(batch.followers)}
    if batch.short_list is not None:
        item["short_list"] = {"S": _joined(batch.short_list)}
    if batch.kept_until is not None:
        item["ttl"] = {"N": to_epoch(batch.kept_until)}
    return item


def from_batch_item(item: Item) -> ActionBatch:
    """Return the batch of an item.

    Raises:
        UnreadableRow: duetime did not write it.
    """
    try:
        return _read(item)
    except UNREADABLE as error:
        raise UnreadableRow([item.get("pk"), item.get("sk")], error) from error


def _read(item: Item) -> ActionBatch:
    given: dict[str, Any] = {
        **{name: read_instant(item, name) for name in _INSTANTS if name in item},
        **{name: item[name]["S"] for name in _TEXTS if name in item},
        **{name: int(item[name]["N"]) for name in _NUMBERS},
        **{name: Counts(*map(int, item[name]["S"].split(" "))) for name in _COUNTS},
    }
    if "followers" in item:
        given["followers"] = tuple(ActionId(one) for one in item["followers"]["S"].split(" "))
    if "short_list" in item:
        given["short_list"] = tuple(map(int, item["short_list"]["S"].split()))
    if "ttl" in item:
        given["kept_until"] = datetime.fromtimestamp(int(item["ttl"]["N"]), UTC)
    tenant_id = TenantId(item["pk"]["S"].partition(SEPARATOR)[0])
    batch = ActionBatch(
        tenant_id=tenant_id,
        name=ids.batch_name(item["sk"]["S"]),
        is_counting="due_shard" in item and "recount_at" not in item,
        **given,
    )
    for problem in _problems(batch):
        raise ValueError(problem)
    return batch


def _problems(batch: ActionBatch) -> Iterator[str]:
    named = (batch.first_id, *batch.waiting)
    if not all(ids.is_action_id(one) and ids.is_one_shot(one) for one in named):
        yield "first_id, on_complete or followers is no action's id"
    if not (0 <= batch.prefix <= batch.size <= MOST_MEMBERS) or len(batch.followers) > _MOST_FOLLOWERS:
        yield f"size is {batch.size}, prefix {batch.prefix}; 0 to {MOST_MEMBERS:,} are allowed"
    if not all(0 <= number <= COUNT_LIMIT for number in (*batch.counts, *batch.prefix_counts)):
        yield f"counts are {batch.counts}"
    short = batch.short_list or ()
    if len(short) > SHORT_LIST or not all(0 <= number < batch.size for number in short):
        yield f"short_list has {len(short)} numbers; at most {SHORT_LIST} below {batch.size} are allowed"


def _status_of(item: Item) -> tuple[int, MemberStatus]:
    redriven_at = read_instant(item, "changed_at") if "redriven_after" in item else None
    status = MemberStatus(Status(item["status"]["S"]), redriven_at)
    return ids.member_number(ActionId(item["sk"]["S"])), status


def _joined(values: Any) -> str:
    return " ".join(map(str, values))
