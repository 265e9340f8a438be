"""Undelivered messages in the jobs table. One partition is enough, because they are rare.

If DynamoDB throttles a write, the queue delivers the message again.
"""

from __future__ import annotations

from datetime import datetime
from itertools import islice
from typing import Any

from duetime import instant
from duetime.aws.dynamodb import Client, DynamoTable
from duetime.aws.faults import ConditionFailed
from duetime.aws.items import to_epoch
from duetime.aws.keys import Item
from duetime.aws.row_checks import UNREADABLE
from duetime.errors import truncate
from duetime.ids import ActionId, TenantId
from duetime.model.action import ActionRef
from duetime.model.undelivered import Undelivered, UndeliveredId, UndeliveredKind
from duetime.ports.undelivered import UndeliveredPage

PARTITION = "system#undelivered"
IS_KEPT = "attribute_exists(pk)"
NOT_KEPT_SINCE = "attribute_not_exists(pk) OR #count = :count"
"""A removal fails if another copy arrived after the caller read the item."""


class DynamoUndelivered:
    """One item for each undelivered message, with its id as the sort key.

    See `duetime.ports.undelivered.UndeliveredStore`.
    """

    def __init__(self, client: Client, table: str) -> None:
        self._table = DynamoTable(client, table)

    def keep(self, thing: Undelivered, *, expires_at: datetime) -> None:
        """Only the first write sends the body."""
        latest: Item = {
            "reason": {"S": thing.reason},
            "last_at": {"S": instant.text(thing.last_at)},
            "ttl": {"N": to_epoch(expires_at)},
        }
        try:
            self._count(thing, latest, {}, ConditionExpression=IS_KEPT)
        except ConditionFailed:
            self._count(thing, latest, _first(thing))

    def _count(self, thing: Undelivered, latest: Item, first: Item, **condition: Any) -> None:
        sets = [f"#{name} = :{name}" for name in latest]
        sets += [f"#{name} = if_not_exists(#{name}, :{name})" for name in first]
        self._table.update(
            _key(thing.id),
            UpdateExpression=f"SET {', '.join(sets)} ADD #count :one",
            ExpressionAttributeNames={f"#{name}": name for name in (*latest, *first, "count")},
            ExpressionAttributeValues={
                **{f":{name}": value for name, value in (latest | first).items()},
                ":one": {"N": "1"},
            },
            **condition,
        )

    def list(self, *, limit: int, cursor: str | None) -> UndeliveredPage:
        """Bodies can be long, and DynamoDB ends a page at 1 MB.

        One page of ours can need several of its pages.
        """
        items = self._table.items(
            KeyConditionExpression="pk = :undelivered",
            ExpressionAttributeValues={":undelivered": {"S": PARTITION}},
            ScanIndexForward=False,
            Limit=limit + 1,
            **({} if cursor is None else {"ExclusiveStartKey": _key(cursor)}),
        )
        found = list(islice(items, limit + 1))
        shown = tuple(_or_its_damage(item) for item in found[:limit])
        return UndeliveredPage(shown, shown[-1].id if len(found) > limit else None)

    def get(self, undelivered_id: str) -> Undelivered | None:
        item = self._table.get(_key(undelivered_id))
        return None if item is None else _or_its_damage(item)

    def remove(self, thing: Undelivered) -> bool:
        try:
            self._table.delete(
                _key(thing.id),
                ConditionExpression=NOT_KEPT_SINCE,
                ExpressionAttributeNames={"#count": "count"},
                ExpressionAttributeValues={":count": {"N": str(thing.count)}},
            )
        except ConditionFailed:
            return False
        return True


def _key(undelivered_id: str) -> Item:
    return {"pk": {"S": PARTITION}, "sk": {"S": undelivered_id}}


def _first(thing: Undelivered) -> Item:
    attributes: Item = {
        "kind": {"S": thing.kind.value},
        "source": {"S": thing.source},
        "body": {"S": thing.body},
        "is_cut": {"BOOL": thing.is_cut},
        "first_at": {"S": instant.text(thing.first_at)},
    }
    if thing.action is not None:
        attributes |= {"action_tenant": {"S": thing.action.tenant_id}, "action_id": {"S": thing.action.id}}
    return attributes


def _or_its_damage(item: Item) -> Undelivered:
    """Return the message of an item; if the item is damaged, one that only describes the damage."""
    try:
        return from_undelivered_item(item)
    except UNREADABLE as error:
        return Undelivered(
            id=UndeliveredId(item["sk"]["S"]),
            kind=UndeliveredKind.PASS,
            source="undelivered",
            reason=f"the entry itself cannot be read: {type(error).__name__}: {truncate(error)}",
            body="",
            is_cut=True,
            first_at=instant.EARLIEST,
            last_at=instant.EARLIEST,
        )


def from_undelivered_item(item: Item) -> Undelivered:
    """Read an undelivered message from its item."""
    ref = None
    if "action_id" in item:
        ref = ActionRef(TenantId(item["action_tenant"]["S"]), ActionId(item["action_id"]["S"]))
    return Undelivered(
        id=UndeliveredId(item["sk"]["S"]),
        kind=UndeliveredKind(item["kind"]["S"]),
        source=item["source"]["S"],
        reason=item["reason"]["S"],
        body=item["body"]["S"],
        is_cut=item["is_cut"]["BOOL"],
        first_at=instant.parse(item["first_at"]["S"]),
        last_at=instant.parse(item["last_at"]["S"]),
        count=int(item["count"]["N"]),
        action=ref,
    )
