"""Offloaded payloads in DynamoDB: items beside their rows, so that claim and settle write small rows."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta

from duetime.aws.dynamodb import Client, DynamoTable
from duetime.aws.faults import ConditionFailed
from duetime.aws.items import to_payload_item
from duetime.aws.keys import payload_key
from duetime.aws.transactions import Entry, put
from duetime.model.action import Action, ActionRef, Status
from duetime.ports.keyed_items import EPOCH

_OUTLIVES = timedelta(days=400)
"""The time to live after the due time. A payload without a row, after a crash between two puts, ends then."""

_OUTLIVES_ROW = timedelta(days=30)
"""How much later than its row a payload expires at the earliest: DynamoDB may remove the row days late."""


class DynamoPayloads:
    """The offloaded payloads of an actions table."""

    def __init__(self, client: Client, table: str) -> None:
        self._table = DynamoTable(client, table)

    def put(self, action: Action) -> None:
        kept_until = action.due_at + _OUTLIVES
        if action.kept_until is not None:
            kept_until = max(kept_until, action.kept_until + _OUTLIVES_ROW)
        self._table.put(to_payload_item(action, kept_until))

    def entry(self, action: Action) -> Entry:
        return put(self._table.name, to_payload_item(action, action.due_at + _OUTLIVES))

    def with_payload(self, action: Action) -> Action:
        """Return the row with its offloaded payload, or without it if the payload is gone or damaged."""
        if not action.payload_size:
            return action
        item = self._table.get(payload_key(action.ref))
        payload = (item or {}).get("payload", {}).get("S")
        return replace(action, payload=payload if isinstance(payload, str) else None)

    def outlive(self, read: Action, after: Action) -> None:
        """Extend the time to live of an offloaded payload before its row gets one, or another due time.

        With a retention of less than a year, an end writes nothing: a payload lives 400 days after its due
        time, which a retry does not move.
        """
        if not read.payload_size:
            return
        if after.kept_until is not None:
            if after.kept_until + _OUTLIVES_ROW > read.nominal_at + _OUTLIVES:
                self._extend(read, after.kept_until + _OUTLIVES_ROW)
        elif read.status is not Status.PROCESSING and after.due_at != read.due_at:
            self._extend(read, after.due_at + _OUTLIVES)

    def _extend(self, row: Action, until: datetime) -> None:
        """Move the time to live, never back. A missing payload fails the run later."""
        with suppress(ConditionFailed):
            self._table.update(
                payload_key(row.ref),
                UpdateExpression="SET #ttl = :ttl",
                ConditionExpression="attribute_exists(pk) AND #ttl < :ttl",
                ExpressionAttributeNames={"#ttl": "ttl"},
                ExpressionAttributeValues={":ttl": {"N": EPOCH.store(until)}},
            )

    def remove(self, ref: ActionRef) -> None:
        self._table.delete(payload_key(ref))
