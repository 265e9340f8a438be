"""A client of DynamoDB whose tables are in a SQLite database in memory.

It answers the requests that `duetime.aws` makes, with the responses and errors of DynamoDB, at a tenth of the
time of moto. So the contract can judge the back ends of a deployment before each commit. Each request is one
transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import islice
from types import SimpleNamespace
from typing import Any, TypeVar

from botocore.exceptions import ClientError

from duetime.sqlite.database import Database
from tests.contract.emulated_tables import SCHEMA, TABLE, ItemKey, Keys, Span, Table
from tests.contract.emulated_values import Attribute, read_all, wire_all
from tests.emulated.expressions.conditions import condition_of
from tests.emulated.expressions.key_conditions import key_range_of
from tests.emulated.expressions.reader import projected_names
from tests.emulated.expressions.updates import update_of
from tests.emulated.expressions.values import NotCovered

T = TypeVar("T")

Request = Mapping[str, Any]
Planned = tuple[Table, ItemKey, Mapping[str, Any] | None, Mapping[str, Any] | None]

_HELD_NOT = "ConditionalCheckFailed"
_LARGEST_PAGE = 1_000
_KEYS = frozenset({"pk", "sk"})


class EmulatedClient:
    """Requests to tables; safe to call from several threads."""

    meta = SimpleNamespace(region_name="emulated")

    def __init__(self) -> None:
        self._database = Database(":memory:", SCHEMA)

    def close(self) -> None:
        """Forget the tables."""
        self._database.close()

    def create_table(self, **request: Any) -> dict[str, Any]:
        """Create a table with the keys ``pk`` and ``sk``; one that exists keeps its items."""
        indexes = {
            index["IndexName"]: Keys(*(key["AttributeName"] for key in index["KeySchema"]))
            for index in request.get("GlobalSecondaryIndexes", ())
        }
        with self._database.writing() as connection:
            Table.create(connection, request["TableName"], indexes)
        return {}

    def delete_table(self, *, TableName: str) -> dict[str, Any]:  # noqa: N803 - as boto3 has it
        """Delete a table and its items."""
        with self._database.writing() as connection:
            Table.delete(connection, TableName)
        return {}

    def get_item(self, **request: Any) -> dict[str, Any]:
        """Return an item."""
        with self._database.reading() as connection:
            item = _table(connection, "GetItem", request).item(_key_of(request["Key"]))
        if item is None:
            return {}
        return {"Item": _projected(item, request)}

    def batch_get_item(self, **request: Any) -> dict[str, Any]:
        """Return several items; missing ones are left out."""
        responses = dict[str, Any]()
        with self._database.reading() as connection:
            for name, keys in request["RequestItems"].items():
                table = _table(connection, "BatchGetItem", {"TableName": name})
                found = (table.item(_key_of(key)) for key in keys["Keys"])
                responses[name] = [_projected(item, keys) for item in found if item is not None]
        return {"Responses": responses, "UnprocessedKeys": {}}

    def put_item(self, **request: Any) -> dict[str, Any]:
        """Put an item if its condition holds."""
        return self._write("PutItem", [("Put", request)], request)

    def update_item(self, **request: Any) -> dict[str, Any]:
        """Change an item if the condition holds."""
        return self._write("UpdateItem", [("Update", request)], request)

    def delete_item(self, **request: Any) -> dict[str, Any]:
        """Delete an item if the condition holds."""
        return self._write("DeleteItem", [("Delete", request)], request)

    def transact_write_items(self, **request: Any) -> dict[str, Any]:
        """Write all entries if all their conditions hold, else none."""
        entries = [next(iter(entry.items())) for entry in request["TransactItems"]]
        return self._write("TransactWriteItems", entries, {})

    def batch_write_item(self, **request: Any) -> dict[str, Any]:
        """Put and delete items without conditions."""
        kinds = {"PutRequest": "Put", "DeleteRequest": "Delete"}
        entries = [
            (kinds[kind], {"TableName": name, **entry})
            for name, listed in request["RequestItems"].items()
            for one in listed
            for kind, entry in one.items()
        ]
        self._write("BatchWriteItem", entries, {})
        return {"UnprocessedItems": {}}

    def query(self, **request: Any) -> dict[str, Any]:
        """Return a page of a partition of a table or of an index."""
        with self._database.reading() as connection:
            table = _table(connection, "Query", request)
            index = request.get("IndexName", TABLE)
            keys = Keys("pk", "sk") if index == TABLE else table.indexes[index]
            values = _valid("Query", lambda: read_all(request.get("ExpressionAttributeValues", {})))
            span = _valid("Query", lambda: _span(request, keys, values))
            limit = min(request.get("Limit") or _LARGEST_PAGE, _LARGEST_PAGE)
            found = list(islice(table.find(index, span), limit + 1))
        return _page("Query", request, found, (limit, {*_KEYS, *keys}), values)

    def scan(self, **request: Any) -> dict[str, Any]:
        """Return a page of a table."""
        start, limit = request.get("ExclusiveStartKey"), request.get("Limit") or _LARGEST_PAGE
        with self._database.reading() as connection:
            table = _table(connection, "Scan", request)
            found = table.scan(None if start is None else _key_of(start), limit + 1)
        values = _valid("Scan", lambda: read_all(request.get("ExpressionAttributeValues", {})))
        return _page("Scan", request, found, (limit, _KEYS), values)

    def _write(
        self, operation: str, entries: Sequence[tuple[str, Request]], request: Request
    ) -> dict[str, Any]:
        """Write all entries or none."""
        is_single = operation not in {"TransactWriteItems", "BatchWriteItem"}
        with self._database.writing(survives_power_cuts=False) as connection:
            reasons, planned = list[dict[str, Any]](), list[Planned]()
            for kind, entry in entries:
                table = _table(connection, operation, entry)
                key = _key_of(entry["Item" if kind == "Put" else "Key"])
                old = table.item(key)
                new, holds = _valid(operation, lambda: _changed(kind, entry, key, old))  # noqa: B023 - called at once
                reasons.append({"Code": "None"} if holds else _reason(entry, old))
                if kind != "ConditionCheck":
                    planned.append((table, key, old, new))
            if any(reason["Code"] != "None" for reason in reasons):
                raise _condition_failed(operation, reasons, is_single=is_single)
            changes = [table.write(key, old, new) for table, key, old, new in planned]
        if request.get("ReturnValues") == "ALL_NEW":
            return {"Attributes": changes[0].new}
        return {}


def _table(connection: Any, operation: str, request: Request) -> Table:
    try:
        return Table(connection, request["TableName"])
    except KeyError as error:
        raise _error(operation, "ResourceNotFoundException", f"there is no table {error}") from None


def _key_of(attributes: Mapping[str, Any]) -> ItemKey:
    return ItemKey(attributes["pk"]["S"], attributes["sk"]["S"])


def _valid(operation: str, compute: Callable[[], T]) -> T:
    try:
        return compute()
    except (NotCovered, UnicodeEncodeError) as error:
        raise _error(operation, "ValidationException", f"not emulated: {error}") from error


def _changed(
    kind: str, entry: Request, key: ItemKey, old: Mapping[str, Any] | None
) -> tuple[Mapping[str, Any] | None, bool]:
    """Return the item after an entry, and whether the entry's condition holds."""
    values = read_all(entry.get("ExpressionAttributeValues", {}))
    attributes = {} if old is None else read_all(old)
    condition = entry.get("ConditionExpression")
    if condition is not None and not condition_of(condition, _names(entry))(attributes, values):
        return None, False
    if kind == "Put":
        return wire_all(read_all(entry["Item"])), True
    if kind != "Update":
        return None, True
    before = attributes or {name: Attribute("S", text) for name, text in zip(("pk", "sk"), key, strict=True)}
    text = entry.get("UpdateExpression")
    return wire_all(before if text is None else update_of(text, _names(entry))(before, values)), True


def _names(request: Request) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(request.get("ExpressionAttributeNames", {}).items()))


def _span(request: Request, keys: Keys, values: Mapping[str, Attribute]) -> Span:
    used = key_range_of(request["KeyConditionExpression"], _names(request))
    terms = {name: values[name] for term in (used.first, used.second) if term for name in term.values}
    first, last = used.bounds(terms)
    start = request.get("ExclusiveStartKey")
    after = None if start is None else (start[keys.sort]["S"], start["pk"]["S"], start["sk"]["S"])
    partition = used.partition(keys, terms).value
    return Span(partition, first, last, after, request.get("ScanIndexForward", True))


def _page(
    operation: str,
    request: Request,
    found: Sequence[dict[str, Any]],
    limits: tuple[int, Collection[str]],
    values: Mapping[str, Attribute],
) -> dict[str, Any]:
    """Return a page of at most so many items, with the attributes of the next page's start."""
    limit, keys = limits
    text, scanned = request.get("FilterExpression"), found[:limit]
    shown = scanned
    if text is not None:
        condition = condition_of(text, _names(request))
        shown = _valid(operation, lambda: [item for item in scanned if condition(read_all(item), values)])
    page = {
        "Items": [_projected(item, request) for item in shown],
        "Count": len(shown),
        "ScannedCount": len(scanned),
    }
    if len(found) > limit:
        page["LastEvaluatedKey"] = {name: scanned[-1][name] for name in keys}
    return page


def _projected(item: dict[str, Any], request: Request) -> dict[str, Any]:
    text = request.get("ProjectionExpression")
    if text is None:
        return item
    return {name: item[name] for name in projected_names(text, _names(request)) if name in item}


def _reason(entry: Request, old: Mapping[str, Any] | None) -> dict[str, Any]:
    is_shown = old is not None and entry.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD"
    reason = {"Code": _HELD_NOT, "Message": "The conditional request failed"}
    return reason | ({"Item": old} if is_shown else {})


def _condition_failed(operation: str, reasons: Sequence[dict[str, Any]], *, is_single: bool) -> ClientError:
    if is_single:
        shown = {"Item": reasons[0]["Item"]} if "Item" in reasons[0] else {}
        return _error(operation, f"{_HELD_NOT}Exception", "The conditional request failed", **shown)
    return _error(
        operation, "TransactionCanceledException", "Transaction cancelled", CancellationReasons=list(reasons)
    )


def _error(operation: str, code: str, message: str, **more: Any) -> ClientError:
    response: Any = {"Error": {"Code": code, "Message": message}, "ResponseMetadata": {"RetryAttempts": 0}}
    return ClientError(response | more, operation)
