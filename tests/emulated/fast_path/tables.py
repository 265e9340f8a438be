"""Reads and writes the items of moto's tables, with their stream records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Self, TypeAlias, cast

from moto.core.utils import utcnow
from moto.dynamodb.models import dynamodb_backends
from moto.dynamodb.models.dynamo_type import DynamoType, Item, LimitedSizeDict
from moto.dynamodb.models.table import StreamRecord, Table

from tests.emulated.addresses import ACCOUNT, REGION
from tests.emulated.expressions.values import NotCovered
from tests.emulated.fast_path.values import Attributes, Wire, stored, unique, wire, wire_all

_LARGEST_ITEM = 300_000
"""Bytes from which moto judges the size: DynamoDB allows 400 KB, and this size is only an upper bound."""

_LARGEST_KEY = 1_024
_SIZE = "_fast_path_size"


Key: TypeAlias = tuple[DynamoType, DynamoType]
"""The values of the partition key and the sort key."""


@dataclass(frozen=True, slots=True)
class Write:
    """A planned change of one item.

    Attributes:
        table: holds the item.
        key: its partition and sort key.
        old: the item before, or None.
        new: its attributes after, or None to delete it.
        size: an upper bound of the bytes that the request adds.
        old_image: `old` in the form of responses.
        new_image: `new` in that form.
    """

    table: FastTable
    key: Key
    old: Item | None
    new: dict[str, DynamoType] | None
    size: int
    old_image: Mapping[str, Any] | None
    new_image: Mapping[str, Any] | None

    @classmethod
    def of(
        cls, table: FastTable, key: Key, old: Item | None, new: dict[str, DynamoType] | None, size: int = 0
    ) -> Self:
        """Plan a change.

        Raises:
            NotCovered: the item before or after has a binary value. So nothing can fail once it is stored.
        """
        old_image = None if old is None else wire_all(old.attrs)
        return cls(table, key, old, new, size, old_image, None if new is None else wire_all(new))


class FastTable:
    """One table of moto with a partition and a sort key.

    Args:
        name: the table's.

    Raises:
        NotCovered: there is no such table, or it has no sort key or an unusual stream.
    """

    def __init__(self, name: str) -> None:
        table: Table | None = dynamodb_backends[ACCOUNT][REGION].tables.get(name)
        if table is None or not table.range_key_attr or table.lambda_event_source_mappings:
            raise NotCovered
        if (table.hash_key_type, table.range_key_type) != ("S", "S"):
            raise NotCovered
        self.moto = table
        self.key_names = (table.hash_key_attr, table.range_key_attr)
        self._indexed = frozenset(table.attribute_keys) - set(self.key_names)

    def key_of(self, attributes: Mapping[str, Wire], *, has_more: bool = False) -> Key:
        """Return the key from a request's ``Key``, or with `has_more` from its ``Item``."""
        if not has_more and len(attributes) != len(self.key_names):
            raise NotCovered
        first, second = (stored(attributes.get(name, {})) for name in self.key_names)
        for part in (first, second):
            if part.type != "S" or not part.value or len(part.value) > _LARGEST_KEY // 4:
                raise NotCovered
        return first, second

    def item(self, key: Key) -> Item | None:
        """Return an item, or None."""
        partition = self.moto.items.get(key[0])
        return partition.get(key[1]) if partition else None

    def expired(self, attribute: str, now: datetime) -> Sequence[Mapping[str, Any]]:
        """Return the keys of the items whose number `attribute` lies before `now`, in seconds since 1970."""
        limit = Decimal(now.timestamp())
        return [
            self._key_image((item.hash_key, item.range_key))
            for partition in self.moto.items.values()
            for item in partition.values()
            if (end := item.attrs.get(attribute)) and end.type == "N" and Decimal(end.value) < limit
        ]

    def check(self, write: Write) -> None:
        """Check what moto would reject.

        Raises:
            NotCovered: the item may be too large, or an attribute of an index has no valid value.
        """
        if write.new is None:
            return
        if _size_of(write.old) + write.size > _LARGEST_ITEM:
            raise NotCovered
        old: Attributes = {} if write.old is None else write.old.attrs
        for name in self._indexed:
            value = write.new.get(name)
            if value is None or value is old.get(name):
                continue
            if value.type != "S" or not value.value or len(value.value) > _LARGEST_KEY // 4:
                raise NotCovered

    def apply(self, write: Write) -> None:
        """Store a checked change, and add its record to the stream."""
        partition, sort = write.key
        if write.new is not None:
            self.moto.items[partition][sort] = _item(write)
        elif write.old is not None:
            del self.moto.items[partition][sort]
        else:
            return
        if self.moto.stream_shard is not None:
            self._record(write)

    def _record(self, write: Write) -> None:
        shard: Any = self.moto.stream_shard
        view = self.moto.stream_specification["StreamViewType"]  # type: ignore[index]  # it has a stream
        old, new = write.old_image, write.new_image
        change: dict[str, Any] = {
            "StreamViewType": view,
            "ApproximateCreationDateTime": utcnow(),
            "SequenceNumber": str(len(shard.items) + shard.starting_sequence_number),
            "SizeBytes": write.size + _size_of(write.old),
            "Keys": self._key_image(write.key),
        }
        if new is not None and view in {"NEW_IMAGE", "NEW_AND_OLD_IMAGES"}:
            change["NewImage"] = new
        if old is not None and view in {"OLD_IMAGE", "NEW_AND_OLD_IMAGES"}:
            change["OldImage"] = old
        record: Any = StreamRecord.__new__(StreamRecord)  # its constructor converts both images slowly
        record.record = {
            "eventID": unique(),
            "eventName": "INSERT" if old is None else "REMOVE" if new is None else "MODIFY",
            "eventSource": "aws:dynamodb",
            "eventVersion": "1.0",
            "awsRegion": REGION,
            "dynamodb": change,
        }
        shard.items.append(record)

    def _key_image(self, key: tuple[DynamoType, DynamoType | None]) -> Mapping[str, Any]:
        return {name: wire(part) for name, part in zip(self.key_names, key, strict=True) if part}


def _item(write: Write) -> Item:
    made: Any = Item.__new__(Item)  # its constructor computes the item's size once for each attribute
    made.hash_key, made.range_key = write.key
    made.attrs = LimitedSizeDict()
    dict.update(made.attrs, write.new or {})
    setattr(made, _SIZE, _size_of(write.old) + write.size)
    return cast("Item", made)


def _size_of(item: Item | None) -> int:
    """Return an upper bound of an item's bytes; computed again once it is near the limit."""
    if item is None:
        return 0
    bound = getattr(item, _SIZE, None)
    if bound is None or bound > _LARGEST_ITEM // 2:
        bound = item.size()
        setattr(item, _SIZE, bound)
    return int(bound)
