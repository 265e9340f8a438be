"""A reader of a DynamoDB stream as moto keeps it.

It takes the records from moto's own shard instead of asking for them by ``GetRecords``: they are the same, in the form
in which AWS sends them, but each costs microseconds instead of the 3 ms that moto needs to write an answer of
them, and most of them are filtered out. With that, a drain would spend a quarter of its time in reading its own writes.

In one thing they are not the same: moto makes an ``UpdateItem`` of an item that was not there in two steps, and its stream has
both, first the new item with its keys alone, then all of it. DynamoDB's has one record, of the whole item; so has this.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

from moto.dynamodb.models import dynamodb_backends

from duetime.local.addresses import ACCOUNT, REGION
from duetime.local.gate import Gate


class StreamShard:
    """Reads one table's only shard from its beginning, each record once."""

    def __init__(self, gate: Gate, table: str) -> None:
        self._gate = gate
        shard: Any = dynamodb_backends[ACCOUNT][REGION].get_table(table).stream_shard
        self._shard = shard
        self.id: str = shard.id
        self._next: int = shard.starting_sequence_number

    def read(self, most: int) -> Sequence[Mapping[str, Any]]:
        """The next records, at most so many; empty when there are none yet."""
        with self._gate.held():
            ahead: list[dict[str, Any]] = self._shard.get(self._next, most + 1)
        ends_within = len(ahead) > most and _is_a_first_step(ahead[most - 1], ahead[most])
        taken = ahead if ends_within else ahead[:most]
        self._next += len(taken)
        return [
            each
            for each, later in zip_longest(taken, taken[1:])
            if not (later and _is_a_first_step(each, later))
        ]


def _is_a_first_step(record: Mapping[str, Any], later: Mapping[str, Any]) -> bool:
    """Whether both are of one write: nothing is inserted twice in a row."""
    both = (record, later)
    keys, keys_later = (each["dynamodb"]["Keys"] for each in both)
    return keys == keys_later and all(each["eventName"] == "INSERT" for each in both)
