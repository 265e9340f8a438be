"""The covered requests of DynamoDB."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests.emulated.fast_path import items
from tests.emulated.fast_path.forms import Body, form_of
from tests.emulated.fast_path.query import query

__all__ = ["TARGET", "answer", "form_of"]

TARGET = "DynamoDB_20120810"


def answer(operation: str, body: Body, size: int) -> dict[str, Any]:
    """Answer a request whose form is known; the caller holds the lock.

    Args:
        operation: such as ``UpdateItem``.
        body: the request.
        size: the length of its JSON.

    Raises:
        NotCovered: moto must answer; nothing has changed.
    """
    return _OPERATIONS[operation](body, size)


_OPERATIONS: Mapping[str, Callable[[Body, int], dict[str, Any]]] = {
    "GetItem": items.get_item,
    "BatchGetItem": items.batch_get_item,
    "PutItem": items.put_item,
    "UpdateItem": items.update_item,
    "DeleteItem": items.delete_item,
    "TransactWriteItems": items.transact_write_items,
    "Query": query,
}
