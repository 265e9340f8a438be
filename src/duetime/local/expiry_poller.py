"""Simulates DynamoDB's time to live, which moto stores without effect.

Rows past their ``ttl`` are deleted regularly, so that `arm` receives their removal from the stream.
"""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from duetime.aws.tables import TTL_ATTRIBUTE
from duetime.clock import Clock
from duetime.local.poller import Poller

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

log = logging.getLogger(__name__)

PERIOD = timedelta(minutes=1)


class ExpiryPoller(Poller):
    """Deletes the expired items of one table."""

    def __init__(self, client: DynamoDBClient, table: str, clock: Clock, period: timedelta = PERIOD) -> None:
        super().__init__("expiry", clock)
        self._client, self._table, self._period = client, table, period

    def turn(self) -> timedelta:
        """Scan the table once and delete expired items."""
        pages = self._client.get_paginator("scan").paginate(
            TableName=self._table,
            ProjectionExpression="pk, sk",
            FilterExpression="#ttl < :now",
            ExpressionAttributeNames={"#ttl": TTL_ATTRIBUTE},
            ExpressionAttributeValues={":now": self._now()},
        )
        for page in pages:
            for key in page["Items"]:
                self._delete(key)
        return self._period

    def _delete(self, key: Any) -> None:
        """Delete an item unless a redrive has removed its ``ttl``."""
        try:
            self._client.delete_item(
                TableName=self._table,
                Key=key,
                ConditionExpression="#ttl < :now",
                ExpressionAttributeNames={"#ttl": TTL_ATTRIBUTE},
                ExpressionAttributeValues={":now": self._now()},
            )
        except self._client.exceptions.ConditionalCheckFailedException:
            log.debug("an item did not expire: it was redriven")

    def _now(self) -> Any:
        return {"N": str(int(self.clock.now().timestamp()))}
