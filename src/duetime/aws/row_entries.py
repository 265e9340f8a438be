"""Writes of actions' rows in DynamoDB, as entries of a transaction: see `duetime.ports.row_writes`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from duetime.aws import conditions
from duetime.aws.damaged_leases import limit, still_dead
from duetime.aws.dynamodb import Client, DynamoTable
from duetime.aws.items import to_item
from duetime.aws.keys import Item, row_key
from duetime.aws.payloads import DynamoPayloads
from duetime.aws.queries import RowIndexes
from duetime.aws.transactions import Entry, put, update
from duetime.model.action import Action
from duetime.ports.keyed_items import AnyWrite
from duetime.ports.row_writes import (
    RowCheckpoint,
    RowFollowed,
    RowIsOver,
    RowLease,
    RowPut,
    RowStillDead,
    RowSwap,
    RowWrite,
)

if TYPE_CHECKING:
    from duetime.aws.direct_puts import DirectPuts


class RowEntries:
    """The entries of one actions table; `to_item` converts an action to a row."""

    def __init__(
        self,
        client: Client,
        table: str,
        to_item: Callable[[Action], Item] = to_item,
        direct: DirectPuts | None = None,
    ) -> None:
        self._to_item, self._direct = to_item, direct
        self.table, self.payloads = DynamoTable(client, table), DynamoPayloads(client, table)
        self.indexes = RowIndexes(self.table)

    def entry(self, write: RowWrite) -> Entry:
        """Return the entry of a write."""
        match write:
            case RowPut(action):
                item = self._to_item(action)
                return put(self.table.name, item, ConditionExpression=conditions.ROW_IS_ABSENT)
            case RowSwap():
                change = conditions.swap(write.read, write.changed, write.guard)
            case RowStillDead():
                change = still_dead(write)
            case RowIsOver():
                change = conditions.IS_OVER
            case RowCheckpoint(claimed, checkpoint):
                change = conditions.checkpoint(claimed, checkpoint)
            case RowFollowed(_, follower):
                change = conditions.add_follower(follower)
            case RowLease(damaged, until):
                change = limit(damaged, until)
        return update(self.table.name, row_key(write.ref), change)

    def prepare(self, writes: Iterable[AnyWrite]) -> None:
        """Store the offloaded payloads of new rows; those of rows that end, or become due later, live longer.

        A large item would cost twice in the transaction.
        """
        for write in writes:
            if isinstance(write, RowPut) and write.action.payload_size:
                self.payloads.put(write.action)
            elif isinstance(write, RowSwap) and not write.has_payload:
                self.payloads.outlive(write.read, write.changed)

    def put_directly(self, write: AnyWrite) -> bool:
        """Put a row without the client, if that is possible, and return whether it is written."""
        if self._direct is None or not isinstance(write, RowPut):
            return False
        return self._direct.put(self.table.name, self._to_item(write.action), conditions.ROW_IS_ABSENT)

    def of_payloads(self, writes: Iterable[AnyWrite]) -> Iterable[Entry]:
        """Yield the entries of the offloaded payloads that change with their rows."""
        for write in writes:
            if isinstance(write, RowSwap) and write.has_payload and write.changed.payload_size:
                yield self.payloads.entry(write.changed)
