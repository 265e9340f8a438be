"""All items of one tenant in a table, by a scan: no index lists every kind of item.

Only an operator's command scans; no function has the right.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from duetime.aws.dynamodb import SERVICE, Client, DynamoTable, readable
from duetime.aws.faults import ConditionFailed, translate_errors
from duetime.aws.job_items import job_key
from duetime.aws.keys import Item
from duetime.errors import BackendUnavailable
from duetime.ids import SEPARATOR
from duetime.model.job import JobRef
from duetime.model.work_pause import PauseScope
from duetime.ports.job_state import STATE
from duetime.ports.work_pauses import PAUSE

_DELETED_AT_ONCE = 25
_BATCH_WRITES = 8
_PAGE = 500
"""Items that one page reads, of all tenants: a page's work must take seconds, since a repeat begins there."""


class ItemPage(NamedTuple):
    """The tenant's items in one page of a scan, and the key after which the next page begins."""

    items: Sequence[Item]
    cursor: Item | None


class TenantItems:
    """One tenant's items in a table. Each method may raise `BackendUnavailable`."""

    def __init__(self, client: Client, table: str, tenant_id: str) -> None:
        self._table, self._begin = DynamoTable(client, table), f"{tenant_id}{SEPARATOR}"

    def pages(self, after: Item | None = None) -> Iterator[ItemPage]:
        """Yield the pages of a consistent scan. Their items may change before the caller handles them."""
        request: dict[str, Any] = {} if after is None else {"ExclusiveStartKey": after}
        while True:
            page = self._page(request)
            yield page
            if page.cursor is None:
                return
            request = {"ExclusiveStartKey": page.cursor}

    def _page(self, request: Mapping[str, Any]) -> ItemPage:
        with translate_errors(SERVICE):
            page: Any = self._table.client.scan(
                TableName=self._table.name,
                FilterExpression="begins_with(pk, :tenant)",
                ExpressionAttributeValues={":tenant": {"S": self._begin}},
                ConsistentRead=True,
                Limit=_PAGE,
                **request,
            )
        return ItemPage(page["Items"], page.get("LastEvaluatedKey"))

    def delete(self, items: Sequence[Item]) -> None:
        """Delete items. Missing ones are ignored.

        Raises:
            BackendUnavailable: some are left; a repeat is safe.
        """
        for first in range(0, len(items), _DELETED_AT_ONCE):
            keys = [{"pk": item["pk"], "sk": item["sk"]} for item in items[first : first + _DELETED_AT_ONCE]]
            self._delete_batch({self._table.name: [{"DeleteRequest": {"Key": key}} for key in keys]})

    def _delete_batch(self, batch: Any) -> None:
        for _ in range(_BATCH_WRITES):
            with translate_errors(SERVICE):
                batch = self._table.client.batch_write_item(RequestItems=batch).get("UnprocessedItems")
            if not batch:
                return
        raise BackendUnavailable(SERVICE, f"{_BATCH_WRITES} attempts left items of a batch undeleted")


class TenantPauses:
    """One tenant's pauses of work, which are in a partition of the system."""

    def __init__(self, client: Client, jobs_table: str, tenant_id: str) -> None:
        self._table = DynamoTable(client, jobs_table)
        self._tenant_id, self._begin = tenant_id, SEPARATOR.join((PauseScope.TENANT, tenant_id, ""))

    def list(self) -> Sequence[Item]:
        """Return the items of the tenant's own pauses and of those of its work, ended ones too."""
        items = self._table.items(
            KeyConditionExpression="pk = :pauses",
            ExpressionAttributeValues={":pauses": {"S": PAUSE.partition}},
            ConsistentRead=True,
        )
        mine = {"S": self._tenant_id}
        return [
            item for item in items if item["sk"]["S"].startswith(self._begin) or item.get("tenant_id") == mine
        ]

    def remove(self) -> int:
        """Remove all; return their number."""
        items = self.list()
        for item in items:
            self._table.delete({"pk": item["pk"], "sk": item["sk"]})
        return len(items)


class Progress:
    """The position of an erase, in the jobs table: a repeat goes on there."""

    def __init__(self, client: Client, jobs_table: str, tenant_id: str) -> None:
        self._table = DynamoTable(client, jobs_table)
        self._key: Item = {"pk": {"S": "system#erasure"}, "sk": {"S": tenant_id}}

    def read(self) -> str | None:
        """Return the stored text; None without one, or if it is damaged: all is done again."""
        item = self._table.get(self._key)
        return next(
            readable([item] if item else (), lambda found: str(found["progress"]["S"]), "progress"), None
        )

    def write(self, progress: str) -> None:
        """Replace the stored text."""
        self._table.put({**self._key, "progress": {"S": progress}})

    def remove(self) -> None:
        """Remove the stored text: the work has ended."""
        self._table.delete(self._key)


def forget_in_job(client: Client, jobs_table: str, ref: JobRef, run_id: str, holder: Item) -> None:
    """Remove what a job's state holds of a run: its error if it was the last, its lock, its waiting place."""
    table, key = DynamoTable(client, jobs_table), job_key(ref, STATE)
    for attribute, value, gone in (
        ("last_id", {"S": run_id}, "last_error, triggered_by"),
        ("running", holder, "running"),
        ("waiting", holder, "waiting"),
    ):
        try:
            table.update(
                key,
                UpdateExpression=f"REMOVE {gone}",
                ConditionExpression=f"{attribute} = :value",
                ExpressionAttributeValues={":value": value},
            )
        except ConditionFailed:
            continue


def as_json(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return an item as plain JSON: numbers as numbers, sets as sorted lists, bytes in base 64."""
    return {name: _value(attribute) for name, attribute in item.items()}


def _value(attribute: Mapping[str, Any]) -> Any:
    ((kind, value),) = attribute.items()
    return _READERS[kind](value)


def _number(text: str) -> int | float:
    return int(text) if text.lstrip("-").isdigit() else float(text)


def _bytes(value: bytes) -> str:
    return base64.b64encode(value).decode()


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "S": str,
    "N": _number,
    "BOOL": bool,
    "NULL": lambda _: None,
    "M": as_json,
    "L": lambda entries: [_value(entry) for entry in entries],
    "SS": sorted,
    "NS": lambda numbers: sorted(map(_number, numbers)),
    "B": _bytes,
    "BS": lambda values: sorted(map(_bytes, values)),
}
