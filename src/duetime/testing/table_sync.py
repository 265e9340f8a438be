"""Joins a simulated cloud with a DynamoDB client, such as moto's: its actions table and the cloud agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from duetime import ids
from duetime.aws.items import to_item
from duetime.aws.keys import Item, is_row, ref_of
from duetime.aws.store import DynamoStore
from duetime.errors import CommitRejected, RejectedEntry
from duetime.memory.store import MemoryStore
from duetime.model.action import Action, ActionRef
from duetime.settings import Settings

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_NO_REASON = "None"
_MILLISECOND = timedelta(milliseconds=1)
"""The precision of the creation time in an id."""


class TableSync:
    """Copies rows that changed: `read` from the table into the cloud, `write` back.

    Args:
        client: of DynamoDB; `duetime.testing.create_tables` has created the tables.
        settings: name the table.
        memory: the cloud's store.
    """

    def __init__(self, client: DynamoDBClient, settings: Settings, memory: MemoryStore) -> None:
        self._client, self._memory, self._settings = client, memory, settings
        self.store = DynamoStore(
            client, settings.made.actions_table, due_shards=settings.due_shards, due_order=settings.due_order
        )
        self._items: dict[ActionRef, Item] = {}
        self._rows: dict[ActionRef, Action] = {}

    def read(self) -> datetime | None:
        """Copy the table's new and changed rows; return the instant after the newest was created."""
        changed = [item for item in self._all() if self._items.get(ref_of(item)) != item]
        for item in changed:
            row = self.store.get(ref_of(item))
            if row is not None:
                self._items[row.ref], self._rows[row.ref] = item, row
                with self._memory.lock:
                    self._memory.write(self._memory.get(row.ref), row)
        one_shots = [ref_of(item).id for item in changed if ids.is_one_shot(ref_of(item).id)]
        return max([ids.created_at(name) + _MILLISECOND for name in one_shots], default=None)

    def write(self) -> None:
        """Copy the cloud's changed rows into the table."""
        for row in self._memory.rows():
            if self._rows.get(row.ref) != row:
                item = to_item(row, due_order=self._settings.due_order)
                self._client.put_item(TableName=self._settings.made.actions_table, Item=item)
                self._items[row.ref], self._rows[row.ref] = item, row

    def commit(self, entries: Sequence[Mapping[str, Any]]) -> None:
        """Write the entries of a handler's commit in one transaction.

        Raises:
            CommitRejected: a condition of an entry does not hold.
        """
        cancelled = self._client.exceptions.TransactionCanceledException
        try:
            self._client.transact_write_items(TransactItems=list(entries))  # type: ignore[arg-type]
        except cancelled as error:
            reasons: Any = error.response.get("CancellationReasons", [])
            raise CommitRejected(
                [
                    RejectedEntry(index, reason["Code"])
                    for index, reason in enumerate(reasons)
                    if reason.get("Code", _NO_REASON) != _NO_REASON
                ]
            ) from error

    def _all(self) -> list[Item]:
        pages = self._client.get_paginator("scan").paginate(TableName=self._settings.made.actions_table)
        return [item for page in pages for item in page["Items"] if is_row(item)]
