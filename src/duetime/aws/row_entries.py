"""Writes of actions' rows in DynamoDB, as entries of a transaction: see `duetime.ports.row_writes`."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from duetime.aws import conditions
from duetime.aws.damaged_leases import still_dead
from duetime.aws.dynamodb import Client
from duetime.aws.items import to_item
from duetime.aws.keys import Item, row_key
from duetime.aws.payloads import DynamoPayloads
from duetime.aws.transactions import Entry, put, update
from duetime.model.action import Action
from duetime.ports.keyed_items import AnyWrite
from duetime.ports.row_writes import RowIsOver, RowPut, RowStillDead, RowSwap, RowWrite


class RowEntries:
    """The entries of one actions table; `to_item` converts an action to a row."""

    def __init__(self, client: Client, table: str, to_item: Callable[[Action], Item] = to_item) -> None:
        self.name, self._to_item, self.payloads = table, to_item, DynamoPayloads(client, table)

    def entry(self, write: RowWrite) -> Entry:
        """Return the entry of a write."""
        match write:
            case RowPut(action):
                return put(self.name, self._to_item(action), ConditionExpression=conditions.ROW_IS_ABSENT)
            case RowSwap():
                change = conditions.swap(write.read, write.changed, write.guard)
            case RowStillDead():
                change = still_dead(write)
            case RowIsOver():
                change = conditions.IS_OVER
        return update(self.name, row_key(write.ref), change)

    def prepare(self, writes: Iterable[AnyWrite]) -> None:
        """Store the offloaded payloads of new rows, and extend those of rows that end.

        A large item would cost twice in the transaction.
        """
        for write in writes:
            if isinstance(write, RowPut) and write.action.payload_size:
                self.payloads.put(write.action)
            elif isinstance(write, RowSwap) and write.changed.status.is_final:
                self.payloads.outlive(write.read, write.changed.kept_until)

    def of_payloads(self, writes: Iterable[AnyWrite]) -> Iterable[Entry]:
        """Yield the entries of the offloaded payloads that change with their rows."""
        for write in writes:
            if isinstance(write, RowSwap) and write.has_payload and write.changed.payload_size:
                yield self.payloads.entry(write.changed)
