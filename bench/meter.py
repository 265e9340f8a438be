"""The meter: a boto3 client's calls of DynamoDB, and their units."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from bench.units import transaction_units

_READS = {"GetItem", "BatchGetItem", "Query"}
_TRANSACTION = "TransactWriteItems"


@dataclass(slots=True)
class Bill:
    """Calls of DynamoDB, and their units."""

    calls: int = 0
    writes: int = 0
    """Calls that write."""
    write_units: float = 0.0
    read_units: float = 0.0


class _Meter:
    def __init__(self, client: Any) -> None:
        self.bill, self._client = Bill(), client
        self._transaction: list[Any] = []
        self._is_reading = False

    def ask(self, params: Mapping[str, Any], model: Any, **_rest: Any) -> Mapping[str, Any]:
        if model.name == _TRANSACTION:
            self._transaction = params["TransactItems"]
        return {**params, "ReturnConsumedCapacity": "TOTAL"}

    def read(self, parsed: Mapping[str, Any], model: Any, **_rest: Any) -> None:
        if self._is_reading:
            return
        self.bill.calls += 1
        consumed = parsed.get("ConsumedCapacity", {})
        bills = consumed if isinstance(consumed, list) else [consumed]
        units = sum(bill.get("CapacityUnits", 0.0) for bill in bills)
        if model.name in _READS:
            self.bill.read_units += units
        else:
            self.bill.writes += 1
            self.bill.write_units += self._of_transaction() if model.name == _TRANSACTION else units

    def _of_transaction(self) -> int:
        self._is_reading = True
        try:
            return transaction_units(self._transaction, self._item_at)
        finally:
            self._is_reading = False

    def _item_at(self, table: str, key: Any) -> Any:
        return self._client.get_item(TableName=table, Key=key, ConsistentRead=True).get("Item", key)


@contextmanager
def metered(client: Any) -> Iterator[Bill]:
    """Request the consumed capacity of each call, and add it up; transactions count by AWS's published rule.

    For one thread at a time.
    """
    meter, events = _Meter(client), client.meta.events
    events.register("provide-client-params.dynamodb.*", meter.ask)
    events.register("after-call.dynamodb.*", meter.read)
    try:
        yield meter.bill
    finally:
        events.unregister("provide-client-params.dynamodb.*", meter.ask)
        events.unregister("after-call.dynamodb.*", meter.read)
