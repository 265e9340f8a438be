"""The leases of dead runs and of damaged rows, and the writes that end or limit one.

A damaged row may hold a lock or a slot. These writes compare its attributes as they are stored, readable or
not, so a renewal or a repair meanwhile keeps what the row holds.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from duetime import instant
from duetime.aws.conditions import ROW_IS_ABSENT, Update, check, swap
from duetime.aws.keys import Item, ref_of
from duetime.errors import UnreadableRow
from duetime.model import transition
from duetime.model.action import Status
from duetime.model.lease import FENCE_STEP
from duetime.model.swap import as_it_is
from duetime.ports.actions import DamagedRow
from duetime.ports.keyed_items import COUNT_LIMIT, EXACT_INSTANT, UNREADABLE
from duetime.ports.row_writes import RowStillDead

_DECIDING = ("status", "fence", "lease_until")


def to_damaged_row(item: Item, error: UnreadableRow) -> DamagedRow:
    """Return what can be read of a damaged row."""
    return DamagedRow(
        ref_of(item),
        str(error),
        status=_status(item),
        lease_until=_lease(item),
        stored={name: item[name] for name in _DECIDING if name in item},
    )


def _status(item: Item) -> Status | None:
    try:
        return Status(item["status"]["S"])
    except UNREADABLE:
        return None


def _lease(item: Item) -> datetime | None:
    try:
        lease: datetime = EXACT_INSTANT.load(item["lease_until"]["S"])
    except UNREADABLE:
        return None
    return lease


def still_dead(write: RowStillDead) -> Update:
    """Check that a holder is dead as read, or gone; one that may run loses fence and nonce."""
    dead = write.read
    if dead is None:
        return {"ConditionExpression": ROW_IS_ABSENT}
    if isinstance(dead, DamagedRow):
        return _still_over(dead)
    if write.loses_fence(dead):
        return swap(dead, transition.fenced_off(dead), as_it_is(dead))
    return check(dead, as_it_is(dead))


def _still_over(dead: DamagedRow) -> Update:
    """Check that a damaged row is as read; one that may be processing loses nonce and fence."""
    if not dead.may_run:
        return _as_read(dead)
    fence = _next_fence(dead)
    change = "SET fence = :next_fence REMOVE nonce" if fence else "REMOVE nonce"
    return {**_as_read(dead, fence), "UpdateExpression": change}


def limit(row: DamagedRow, until: datetime) -> Update:
    """Write a lease into a damaged row if it is as read."""
    until_text = {":until": {"S": instant.text(until)}}
    return {**_as_read(row, until_text), "UpdateExpression": "SET lease_until = :until"}


def _next_fence(dead: DamagedRow) -> dict[str, Any]:
    """Return the value of the next fence; none if the fence is damaged, which no run's condition meets."""
    try:
        fence = int(dead.stored["fence"]["N"])
    except UNREADABLE:
        return {}
    return {":next_fence": {"N": str(fence + FENCE_STEP)}} if 0 <= fence <= COUNT_LIMIT else {}


def _as_read(row: DamagedRow, more_values: Item | None = None) -> Update:
    """Return the condition; DynamoDB rejects an empty map of values, as of a row without all three."""
    conditions = (
        f"#{name} = :{name}" if name in row.stored else f"attribute_not_exists(#{name})" for name in _DECIDING
    )
    values = {f":{name}": value for name, value in row.stored.items()} | (more_values or {})
    return {
        "ConditionExpression": " AND ".join(["attribute_exists(pk)", *conditions]),
        "ExpressionAttributeNames": {f"#{name}": name for name in _DECIDING},
        **({"ExpressionAttributeValues": values} if values else {}),
    }
