"""The form of a DynamoDB request: its expressions and options, without keys and values."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from tests.emulated.expressions.values import NotCovered

Body = Mapping[str, Any]

_LARGEST_BODY = 20_000
_VARYING = frozenset({"Key", "Item", "ExclusiveStartKey", "Limit"})
"""Parts of a request whose values do not concern its form."""

_IGNORED = frozenset({"ReturnValuesOnConditionCheckFailure", "Keys"})
"""Parts that concern only failures, which moto answers, and the keys of a batch."""

_EXPRESSIONS = frozenset(
    {"TableName", "ConditionExpression", "ExpressionAttributeNames", "ExpressionAttributeValues"}
)
_QUERY = frozenset(
    {"IndexName", "KeyConditionExpression", "FilterExpression", "ProjectionExpression", "Limit"}
    | {"ScanIndexForward", "ExclusiveStartKey", "ConsistentRead"}
)
_ALLOWED: Mapping[str, frozenset[str]] = {
    "GetItem": frozenset({"TableName", "Key", "ConsistentRead"}),
    "BatchGetItem": frozenset({"RequestItems"}),
    "PutItem": _EXPRESSIONS | {"Item"},
    "UpdateItem": _EXPRESSIONS | {"Key", "UpdateExpression", "ReturnValues"},
    "DeleteItem": _EXPRESSIONS | {"Key"},
    "TransactWriteItems": frozenset({"TransactItems", "ClientRequestToken"}),
    "Query": (_EXPRESSIONS - {"ConditionExpression"}) | _QUERY,
}
_ENTRIES: Mapping[str, frozenset[str]] = {
    "Put": _ALLOWED["PutItem"],
    "Update": _ALLOWED["UpdateItem"] - {"ReturnValues"},
    "Delete": _ALLOWED["DeleteItem"],
    "ConditionCheck": _EXPRESSIONS | {"Key"},
}


def form_of(operation: str, body: Body, size: int) -> Hashable:
    """Return what moto must have accepted before.

    Raises:
        NotCovered: the request has a part that the fast path does not know, or is large.
    """
    if operation not in _ALLOWED or size > _LARGEST_BODY:
        raise NotCovered
    if operation == "TransactWriteItems":
        return operation, tuple(_entry_form(entry) for entry in body["TransactItems"])
    if operation == "BatchGetItem":
        batches = body["RequestItems"].items()
        return operation, tuple((name, _form(keys, frozenset({"ConsistentRead"}))) for name, keys in batches)
    return operation, _form(body, _ALLOWED[operation])


def _entry_form(entry: Body) -> Hashable:
    ((kind, request),) = entry.items()
    return kind, _form(request, _ENTRIES[kind])


def _form(body: Body, allowed: frozenset[str]) -> Hashable:
    parts = list[Hashable]()
    for name in sorted(set(body) - _IGNORED):
        if name not in allowed:
            raise NotCovered
        value = body[name]
        if name == "ExpressionAttributeValues":
            value = tuple(sorted(value))
        elif name == "ExpressionAttributeNames":
            value = names_of(body)
        elif name in _VARYING:
            value = None
        parts.append((name, value))
    return tuple(parts)


def names_of(body: Body) -> tuple[tuple[str, str], ...]:
    """Return the placeholders of a request's attribute names, in order."""
    return tuple(sorted(body.get("ExpressionAttributeNames", {}).items()))
