"""Pauses of work in the jobs table: the partition ``system#pauses``, which no grant to callers covers.

The sort key is the scope, the name and the pause's id. DynamoDB's time to live removes ended pauses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any

from duetime import instant
from duetime.aws.dynamodb import Client, DynamoTable, readable
from duetime.aws.faults import ConditionFailed
from duetime.aws.items import to_epoch
from duetime.aws.keys import Item
from duetime.ids import SEPARATOR
from duetime.model.work_pause import PauseScope, WorkPause, WorkPauseChange

PARTITION = "system#pauses"
_STORED_AFTER_END = timedelta(days=1)
_KNOWN = frozenset(PauseScope)
_IS_NEW = "attribute_not_exists(pk)"
_HAS_NOT_ENDED = "attribute_exists(pk) AND attribute_not_exists(ended_at)"


class DynamoWorkPauses:
    """One item for each pause.

    See `duetime.ports.work_pauses.WorkPauses`.
    """

    def __init__(self, client: Client, table: str) -> None:
        self._table = DynamoTable(client, table)

    def list(self) -> Sequence[WorkPause]:
        items = self._table.items(
            KeyConditionExpression="pk = :pauses",
            ExpressionAttributeValues={":pauses": {"S": PARTITION}},
            ConsistentRead=True,
        )
        known = (item for item in items if item["sk"]["S"].partition(SEPARATOR)[0] in _KNOWN)
        return sorted(readable(known, from_pause_item, "pause"), key=lambda pause: pause.id)

    def begin(self, pause: WorkPause) -> None:
        with suppress(ConditionFailed):
            self._table.put(_pause_item(pause), ConditionExpression=_IS_NEW)

    def end(self, pause: WorkPause) -> None:
        with suppress(ConditionFailed):
            self._table.put(_pause_item(pause), ConditionExpression=_HAS_NOT_ENDED)


def pause_change_of(old: Item | None, new: Item) -> WorkPauseChange | None:
    """Return the change in a stream's record; None if the scope is one of a later version.

    Raises:
        ValueError: an attribute is invalid.
        LookupError: one is missing.
    """
    if new["sk"]["S"].partition(SEPARATOR)[0] not in _KNOWN:
        return None
    return WorkPauseChange(from_pause_item(old) if old else None, from_pause_item(new))


def _pause_item(pause: WorkPause) -> Item:
    texts = {
        "pk": PARTITION,
        "sk": SEPARATOR.join((pause.scope, pause.name, pause.id)),
        "reason": pause.reason,
        "by": pause.by,
        "since": instant.text(pause.since),
        "until": pause.until and instant.text(pause.until),
        "ended_at": pause.ended_at and instant.text(pause.ended_at),
        "ended_by": pause.ended_by,
    }
    item: dict[str, Any] = {name: {"S": text} for name, text in texts.items() if text is not None}
    end = pause.ended_at or pause.until
    return item if end is None else {**item, "ttl": {"N": to_epoch(end + _STORED_AFTER_END)}}


def from_pause_item(item: Mapping[str, Any]) -> WorkPause:
    """Read a pause from its item.

    Raises:
        ValueError: an attribute is invalid.
        LookupError: one is missing.
    """
    scope, name, pause_id = item["sk"]["S"].split(SEPARATOR)
    times = {
        field: instant.parse(item[field]["S"]) if field in item else None for field in ("until", "ended_at")
    }
    return WorkPause(
        id=pause_id,
        scope=PauseScope(scope),
        name=name,
        reason=item["reason"]["S"],
        by=item["by"]["S"],
        since=instant.parse(item["since"]["S"]),
        ended_by=item["ended_by"]["S"] if "ended_by" in item else None,
        **times,
    )
