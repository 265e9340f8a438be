"""The limits that operators set: one item for each name, in the jobs table's partition ``system#limits``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from duetime import instant
from duetime.aws.dynamodb import SERVICE, Client, DynamoTable, readable
from duetime.aws.faults import translate_errors
from duetime.aws.keys import Item
from duetime.model.rate_limit import RateLimit
from duetime.ports.rate_limits import SetLimit

PARTITION = "system#limits"


class DynamoSetLimits:
    """The items.

    See `duetime.ports.rate_limits.SetLimits`.
    """

    def __init__(self, client: Client, table: str) -> None:
        self._table = DynamoTable(client, table)

    def list(self) -> Sequence[SetLimit]:
        items = self._table.items(
            KeyConditionExpression="pk = :limits",
            ExpressionAttributeValues={":limits": {"S": PARTITION}},
            ConsistentRead=True,
        )
        return tuple(readable(items, _from_item, "rate limit"))

    def set(self, limit: SetLimit) -> None:
        self._table.put(
            {
                **_key(limit.name),
                "count": {"N": str(limit.limit.count)},
                "seconds": {"N": str(limit.limit.per.total_seconds())},
                "burst": {"N": str(limit.limit.burst)},
                "by": {"S": limit.by},
                "at": {"S": instant.text(limit.at)},
            }
        )

    def reset(self, name: str) -> None:
        with translate_errors(SERVICE):
            self._table.client.delete_item(TableName=self._table.name, Key=_key(name))


def _key(name: str) -> Item:
    return {"pk": {"S": PARTITION}, "sk": {"S": name}}


def _from_item(item: Mapping[str, Any]) -> SetLimit:
    count, burst = int(item["count"]["N"]), int(item["burst"]["N"])
    return SetLimit(
        name=item["sk"]["S"],
        limit=RateLimit.parse(count, timedelta(seconds=float(item["seconds"]["N"])), burst),
        by=item["by"]["S"],
        at=instant.parse(item["at"]["S"]),
    )
