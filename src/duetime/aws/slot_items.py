"""The items of concurrency keys: how holders, the line and the tail are stored. See `duetime.aws.slots`."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from duetime import instant
from duetime.aws.items import to_epoch
from duetime.aws.keys import Item, slots_key, tail_partition
from duetime.errors import UnreadableRow
from duetime.ids import ActionId, TenantId
from duetime.model.slots import KeySlots, TailEntry
from duetime.ports.keyed_items import UNREADABLE

_OUTLIVES = timedelta(days=2, hours=12)
"""The time to live of the item after the latest take: longer than any run or hand-over with a slot."""


def time_to_live(taken_at: datetime) -> Mapping[str, Any]:
    """Return the time to live of the item after a take."""
    return {"N": to_epoch(taken_at + _OUTLIVES)}


def holders_entry(holders: Mapping[ActionId, int]) -> Mapping[str, Any]:
    """Return the holders with their tokens."""
    return {"M": {holder: {"N": str(fence)} for holder, fence in holders.items()}}


def line_entry(action_id: ActionId) -> Mapping[str, Any]:
    """Return an id in the line in 22 characters: the size of the item is the price of each write."""
    return {"S": urlsafe_b64encode(UUID(action_id).bytes).decode().rstrip("=")}


def _id_of(entry: Mapping[str, Any]) -> ActionId:
    return ActionId(str(UUID(bytes=urlsafe_b64decode(entry["S"] + "=="))))


def tail_key(tenant_id: TenantId, key: str, position: str) -> Item:
    """Return the key of an entry of the tail."""
    return {"pk": {"S": tail_partition(tenant_id, key)}, "sk": {"S": position}}


def tail_entry(item: Item) -> TailEntry:
    """Return the entry of the tail of an item.

    Raises:
        ValueError: it has no id.
    """
    position: str = item["sk"]["S"]
    action_id = ActionId(position.partition(" ")[2])
    UUID(action_id)
    return TailEntry(position, action_id, _stamp(item))


def _stamp(item: Item) -> datetime:
    """Return when a slot was taken last, or an action joined a tail, by the time to live."""
    return datetime.fromtimestamp(int(item["ttl"]["N"]), UTC) - _OUTLIVES


def slots_of(tenant_id: TenantId, key: str, item: Item) -> KeySlots:
    """Return a key's slots.

    Raises:
        UnreadableRow: duetime did not write the item.
    """
    try:
        return KeySlots(
            tenant_id,
            key,
            {
                ActionId(holder): int(fence["N"])
                for holder, fence in item.get("holders", {"M": {}})["M"].items()
            },
            tuple(map(_id_of, item.get("waiting", {"L": ()})["L"])),
            _stamp(item) if "ttl" in item else instant.EARLIEST,
            "tail" in item,
        )
    except UNREADABLE as error:
        raise UnreadableRow(slots_key(tenant_id, key), error) from error
