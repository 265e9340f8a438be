"""*Compare* the actions tables of two regions: what only the former one has, and what ran in both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from duetime import instant
from duetime.aws.dynamodb import SERVICE, Client
from duetime.aws.faults import translate_errors
from duetime.aws.items import from_item
from duetime.aws.keys import is_row
from duetime.model.action import Action
from duetime.model.active_region import epoch_of
from duetime.ports.action_store import ActionStore
from duetime.ports.keyed_items import UNREADABLE

_PAGE = 100


@dataclass(frozen=True, slots=True)
class Comparison:
    """What differs.

    Attributes:
        missing: actions of the former region that the active one does not have: lost, or still to arrive.
        twice: actions that began in both regions.
    """

    missing: Sequence[Action]
    twice: Sequence[Action]

    def to_json(self) -> Mapping[str, Any]:
        """Return the actions as JSON."""
        return {"missing": [*map(_json, self.missing)], "ran_twice": [*map(_json, self.twice)]}


def compare(rows: Iterator[Sequence[Action]], active: ActionStore) -> Comparison:
    """Compare the rows of the former region, page by page, with those of the active one.

    A row that both regions claimed has another epoch in each until it has replicated.
    """
    missing, twice = list[Action](), list[Action]()
    for page in rows:
        there = {row.ref: row for row in active.get_rows([row.ref for row in page])}
        missing += [row for row in page if row.ref not in there]
        twice += [
            row
            for row in page
            if (other := there.get(row.ref)) is not None and row.fence and _is_later(other, row)
        ]
    return Comparison(missing, twice)


def _is_later(other: Action, row: Action) -> bool:
    """Return whether the active region began a run that does not know the run of the former one."""
    begun = {attempt.started_at for attempt in other.attempts}
    return epoch_of(other.fence) > epoch_of(row.fence) and any(
        attempt.started_at not in begun for attempt in row.attempts
    )


def all_rows(client: Client, table: str) -> Iterator[Sequence[Action]]:
    """Yield all rows of an actions table by scans, without payloads; unreadable ones are left out."""
    start: Any = {}
    while True:
        with translate_errors(SERVICE):
            page = client.scan(TableName=table, Limit=_PAGE, **start)
        yield [row for item in page["Items"] if is_row(item) and (row := _row(item))]
        if "LastEvaluatedKey" not in page:
            return
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}


def _row(item: Any) -> Action | None:
    try:
        return from_item(item)
    except UNREADABLE:
        return None


def _json(row: Action) -> Mapping[str, Any]:
    return {
        "tenant_id": row.tenant_id,
        "id": row.id,
        "type": row.type,
        "job": row.job,
        "status": row.status.value,
        "due_at": instant.text(row.due_at),
    }
