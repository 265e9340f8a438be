"""Requests to one DynamoDB table, with AWS errors translated and pages followed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from duetime.aws import unreadable_items
from duetime.aws.faults import translate_errors
from duetime.aws.keys import Item
from duetime.errors import BackendUnavailable
from duetime.ports.keyed_items import UNREADABLE

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

log = logging.getLogger(__name__)

SERVICE = "DynamoDB"
_BATCH_READS = 8
_LARGEST_PAGE = 1_000
_FORGED = 100
"""The most pages with forged entries that one query reads."""

T = TypeVar("T")
Client: TypeAlias = "DynamoDBClient"


def readable(
    items: Iterable[Item],
    read: Callable[[Item], T],
    kind: str,
    instead: Callable[[Item], T | None] = lambda _: None,
) -> Iterator[T]:
    """Read the items. Note the unreadable ones, so that they do not block the others.

    In place of an unreadable one stands what `instead` returns; by default nothing does.
    """
    for item in items:
        try:
            yield read(item)
        except UNREADABLE as error:
            unreadable_items.note(kind, item, error)
            if (found := instead(item)) is not None:
                yield found


class DynamoTable:
    """One table. Each method may raise the errors of `duetime.aws.faults.translate_errors`."""

    def __init__(self, client: Client, name: str) -> None:
        self.client, self.name = client, name

    def get(self, key: Item, *, may_lag: bool = False) -> Item | None:
        """Return an item, or None if there is none; by a consistent read, unless it may lag."""
        with translate_errors(SERVICE):
            return self.client.get_item(TableName=self.name, Key=key, ConsistentRead=not may_lag).get("Item")

    def get_many(self, keys: Sequence[Item]) -> Iterator[Item]:
        """Yield at most 100 items by consistent reads, in no order; missing items are left out.

        Raises:
            BackendUnavailable: DynamoDB left some items unread in each of eight attempts.
        """
        request: Any = {self.name: {"Keys": keys, "ConsistentRead": True}}
        for _ in range(_BATCH_READS):
            with translate_errors(SERVICE):
                response: Any = self.client.batch_get_item(RequestItems=request)
            yield from response.get("Responses", {}).get(self.name, [])
            request = response.get("UnprocessedKeys")
            if not request:
                return
        raise BackendUnavailable(SERVICE, f"{_BATCH_READS} attempts left keys of a batch unread")

    def query(self, **request: Any) -> Any:
        """Return one page of a query."""
        with translate_errors(SERVICE):
            return self.client.query(TableName=self.name, **request)

    def items(self, **request: Any) -> Iterator[Item]:
        """Yield the items of all pages of a query. Each request is sent only when its page is needed."""
        while True:
            page = self.query(**request)
            yield from page["Items"]
            if not page.get("LastEvaluatedKey"):
                return
            request["ExclusiveStartKey"] = page["LastEvaluatedKey"]

    def own_items(self, is_own: Callable[[Item], bool], **request: Any) -> Iterator[Item]:
        """Yield the entries of an index query that `is_own` accepts; log that there are others.

        IAM does not restrict attributes, so a caller may forge entries of another tenant's partition. The
        page after such an entry is larger: ten thousand forged entries cost ten requests. After `_FORGED`
        such pages the query ends.
        """
        forged = 0
        while forged < _FORGED:
            page = self.query(**request)
            own = [item for item in page["Items"] if is_own(item)]
            yield from own
            if not page.get("LastEvaluatedKey"):
                return
            request["ExclusiveStartKey"] = page["LastEvaluatedKey"]
            if len(own) == len(page["Items"]):
                continue
            request["Limit"], forged = _LARGEST_PAGE, forged + 1
            others = [item["pk"] for item in page["Items"] if not is_own(item)]
            log.warning("index entries name another tenant", extra={"pk": others[0], "entries": len(others)})
        log.error("too many index entries name another tenant", extra={"index": request.get("IndexName")})

    def put(self, item: Item, **condition: Any) -> None:
        with translate_errors(SERVICE):
            self.client.put_item(TableName=self.name, Item=item, **condition)

    def update(self, key: Item, **change: Any) -> Item:
        """Change an item, and return the attributes that ``ReturnValues`` selects."""
        with translate_errors(SERVICE):
            return self.client.update_item(TableName=self.name, Key=key, **change).get("Attributes", {})

    def delete(self, key: Item, **condition: Any) -> None:
        with translate_errors(SERVICE):
            self.client.delete_item(TableName=self.name, Key=key, **condition)
