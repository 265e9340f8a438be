"""Reads and writes single items, and several in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from moto.dynamodb.models.dynamo_type import DynamoType, Item

from tests.emulated.expressions.conditions import condition_of
from tests.emulated.expressions.updates import update_of
from tests.emulated.expressions.values import NotCovered
from tests.emulated.fast_path.forms import Body, names_of
from tests.emulated.fast_path.tables import FastTable, Write
from tests.emulated.fast_path.values import stored_all, wire_all

_MOST_KEYS = 100


def get_item(body: Body, _size: int) -> dict[str, Any]:
    """Answer ``GetItem``."""
    table = FastTable(body["TableName"])
    item = table.item(table.key_of(body["Key"]))
    return {} if item is None else {"Item": wire_all(item.attrs)}


def batch_get_item(body: Body, _size: int) -> dict[str, Any]:
    """Answer ``BatchGetItem``."""
    responses = dict[str, Any]()
    for name, requested in body["RequestItems"].items():
        table = FastTable(name)
        keys = [table.key_of(key) for key in requested["Keys"]]
        if len(set(keys)) != len(keys) or len(keys) > _MOST_KEYS:
            raise NotCovered
        items = [table.item(key) for key in keys]
        responses[name] = [wire_all(item.attrs) for item in items if item is not None]
    return {"Responses": responses, "UnprocessedKeys": {}}


def put_item(body: Body, size: int) -> dict[str, Any]:
    """Answer ``PutItem``."""
    _apply([_put(body, size)])
    return {}


def update_item(body: Body, size: int) -> dict[str, Any]:
    """Answer ``UpdateItem``."""
    returned = body.get("ReturnValues", "NONE")
    if returned not in {"NONE", "ALL_NEW", "ALL_OLD"}:
        raise NotCovered
    write = _update(body, size)
    _apply([write])
    if returned == "ALL_NEW" and write.new is not None:
        return {"Attributes": wire_all(write.new)}
    if returned == "ALL_OLD" and write.old is not None:
        return {"Attributes": wire_all(write.old.attrs)}
    return {}


def delete_item(body: Body, size: int) -> dict[str, Any]:
    """Answer ``DeleteItem``."""
    _apply([_delete(body, size)])
    return {}


def transact_write_items(body: Body, size: int) -> dict[str, Any]:
    """Answer ``TransactWriteItems``."""
    writes, checks = list[Write](), list[Write]()
    for entry in body["TransactItems"]:
        ((kind, request),) = entry.items()
        (checks if kind == "ConditionCheck" else writes).append(_ENTRIES[kind](request, size))
    keys = [(write.table.moto.name, *write.key) for write in (*writes, *checks)]
    if len(set(keys)) != len(keys):
        raise NotCovered
    _apply(writes)
    return {}


def _put(body: Body, size: int) -> Write:
    table = FastTable(body["TableName"])
    key = table.key_of(body["Item"], has_more=True)
    old = table.item(key)
    _values_if_true(body, old)
    return Write.of(table, key, old, stored_all(body["Item"]), size)


def _update(body: Body, size: int) -> Write:
    table = FastTable(body["TableName"])
    key = table.key_of(body["Key"])
    old = table.item(key)
    values = _values_if_true(body, old)
    before = dict(zip(table.key_names, key, strict=True)) if old is None else old.attrs
    change = update_of(body["UpdateExpression"], names_of(body))
    return Write.of(table, key, old, change(before, values), size)


def _delete(body: Body, _size: int) -> Write:
    """Plan a delete; of a condition check, only the condition counts."""
    table = FastTable(body["TableName"])
    key = table.key_of(body["Key"])
    old = table.item(key)
    _values_if_true(body, old)
    return Write.of(table, key, old, None)


def _values_if_true(body: Body, item: Item | None) -> dict[str, DynamoType]:
    """Return the values of the expressions if the condition is true.

    Raises:
        NotCovered: it is false; moto's answer has the error.
    """
    values = stored_all(body.get("ExpressionAttributeValues", {}))
    text = body.get("ConditionExpression")
    if text is not None:
        condition = condition_of(text, names_of(body))
        if not condition({} if item is None else item.attrs, values):
            raise NotCovered
    return values


def _apply(writes: Sequence[Write]) -> None:
    for write in writes:
        write.table.check(write)
    for write in writes:
        write.table.apply(write)


_ENTRIES: Mapping[str, Callable[[Body, int], Write]] = {
    "Put": _put,
    "Update": _update,
    "Delete": _delete,
    "ConditionCheck": _delete,
}
