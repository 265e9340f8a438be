"""Transactional writes, and their repetition after a conflict with another transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from duetime.aws.conditions import Update
from duetime.aws.dynamodb import SERVICE, Client
from duetime.aws.faults import (
    ConditionFailed,
    TransactionFailed,
    translate_errors,
)
from duetime.aws.keys import Item
from duetime.clock import Clock
from duetime.ports.keyed_items import Cancelled, Conflict, pause

T = TypeVar("T")

_TRIES = 6
Entry = Mapping[str, Any]
"""One entry of a ``TransactWriteItems``."""


def update(table: str, key: Item, change: Update) -> Entry:
    """Return a conditional update. Without an ``UpdateExpression``, it only checks the condition."""
    kind = "Update" if "UpdateExpression" in change else "ConditionCheck"
    return {
        kind: {"TableName": table, "Key": key, "ReturnValuesOnConditionCheckFailure": "ALL_OLD", **change}
    }


def put(table: str, item: Item, **condition: str) -> Entry:
    """Return a put of `item`."""
    return {"Put": {"TableName": table, "Item": item, **condition}}


def write(client: Client, entries: Sequence[Entry]) -> None:
    """Write all entries or none. A single update needs no transaction, at half the price.

    Raises:
        TransactionFailed: a condition did not hold.
        Conflict: another transaction is writing one of the items.
    """
    listed: Any = list(entries)
    try:
        with translate_errors(SERVICE):
            if len(listed) == 1 and "Update" in listed[0]:
                client.update_item(**listed[0]["Update"])
            else:
                client.transact_write_items(TransactItems=listed)
    except ConditionFailed as failed:
        raise TransactionFailed({0: failed.item}, was_repeated=failed.was_repeated) from None


def retry_on_conflict(
    call: Callable[[], T],
    after: type[Cancelled] = Conflict,
    *,
    clock: Clock | None = None,
    tries: int = _TRIES,
) -> T:
    """Return the result of `call`; repeat the call after a conflict.

    Args:
        call: writes, or changes nothing and raises.
        after: the exception that permits another attempt.
        clock: waits between attempts; by default `duetime.clock.PAUSES`.
        tries: the number of attempts.

    Raises:
        Conflict: each attempt had one. `after` names a wider class, if there is one.
    """
    for attempt in range(tries - 1):
        try:
            return call()
        except after:
            pause(attempt, clock=clock)
    return call()
