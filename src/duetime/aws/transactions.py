"""Writes that other transactions may be in the way of: several at once, and each tried again after a short while."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from duetime.aws.conditions import Update
from duetime.aws.faults import (
    ConditionFailed,
    TransactionCancelled,
    TransactionConflict,
    TransactionFailed,
    translate_errors,
)
from duetime.aws.keys import Item
from duetime.aws.queries import SERVICE

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

T = TypeVar("T")

_TRIES = 6
_FIRST_WAIT = 0.02
"""Seconds, doubled with each try: a transaction takes some ten milliseconds."""

Entry = Mapping[str, Any]
"""One of a ``TransactWriteItems``."""


def update(table: str, key: Item, change: Update) -> Entry:
    """A conditional update; a change that changes nothing is a check of its condition alone."""
    kind = "Update" if "UpdateExpression" in change else "ConditionCheck"
    return {
        kind: {"TableName": table, "Key": key, "ReturnValuesOnConditionCheckFailure": "ALL_OLD", **change}
    }


def put(table: str, item: Item, **condition: str) -> Entry:
    """An item."""
    return {"Put": {"TableName": table, "Item": item, **condition}}


def write(client: DynamoDBClient, entries: Sequence[Entry]) -> None:
    """Write all or nothing; an update alone goes without a transaction, for half the price.

    Raises:
        TransactionFailed: a condition did not hold.
        Conflict: a transaction was at work on one of the items.
    """
    listed: Any = list(entries)
    try:
        with translate_errors(SERVICE):
            if len(listed) == 1 and "Update" in listed[0]:
                client.update_item(**listed[0]["Update"])
            else:
                client.transact_write_items(TransactItems=listed)
    except ConditionFailed as failed:
        raise TransactionFailed({0: failed.item}) from None


def retry_on_conflict(call: Callable[[], T], after: type[TransactionCancelled] = TransactionConflict) -> T:
    """Call again after a conflict, or whatever passes like one, a few times.

    Raises:
        Conflict: there was one each time.
    """
    for tried in range(_TRIES - 1):
        try:
            return call()
        except after:
            pause(tried)
    return call()


def pause(tried: int) -> None:
    """Let others go first, a while longer with each time that was tried in vain."""
    wait = _FIRST_WAIT * 2**tried * random.random()  # noqa: S311 - keeps rivals apart, guards nothing
    threading.Event().wait(wait)
