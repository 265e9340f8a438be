"""Deliveries in the jobs table: partition ``acme#notified#deliveries``, sort key a hash of the delivery's id.

An item has the lease of the sender, or the mark that the delivery was sent. It contains no address.
DynamoDB's time to live removes it.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from hashlib import sha256

from duetime import instant
from duetime.aws.dynamodb import Client, DynamoTable
from duetime.aws.faults import ConditionFailed
from duetime.aws.items import to_epoch
from duetime.aws.keys import Item, notified
from duetime.ids import TenantId
from duetime.ports.notifications import SendPermit

WAS_NOT_SENT = "attribute_not_exists(sent)"
NO_OTHER_LEASE = "attribute_not_exists(pk) OR holder = :me OR lease_until <= :now"
IS_MINE = "holder = :me"


class DynamoDeliveries:
    """One item for each delivery.

    See `duetime.ports.notifications.Deliveries`.
    """

    def __init__(self, client: Client, table: str) -> None:
        self._table = DynamoTable(client, table)

    def begin(
        self,
        tenant_id: TenantId,
        delivery_id: str,
        *,
        holder: str,
        now: datetime,
        until: datetime,
        expires_at: datetime,
    ) -> SendPermit:
        try:
            self._table.update(
                _delivery_key(tenant_id, delivery_id),
                ConditionExpression=f"{WAS_NOT_SENT} AND ({NO_OTHER_LEASE})",
                UpdateExpression="SET holder = :me, lease_until = :until, #ttl = :ttl",
                ExpressionAttributeNames={"#ttl": "ttl"},
                ExpressionAttributeValues={
                    ":me": {"S": holder},
                    ":now": {"S": instant.text(now)},
                    ":until": {"S": instant.text(until)},
                    ":ttl": {"N": to_epoch(expires_at)},
                },
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except ConditionFailed as failed:
            return SendPermit.SENT if "sent" in (failed.item or {}) else SendPermit.HELD
        return SendPermit.YES

    def end(self, tenant_id: TenantId, delivery_id: str, *, expires_at: datetime) -> None:
        mark: Item = {"sent": {"BOOL": True}, "ttl": {"N": to_epoch(expires_at)}}
        self._table.put(_delivery_key(tenant_id, delivery_id) | mark)

    def forget(self, tenant_id: TenantId, delivery_id: str, *, holder: str) -> None:
        with suppress(ConditionFailed):
            self._table.delete(
                _delivery_key(tenant_id, delivery_id),
                ConditionExpression=f"{WAS_NOT_SENT} AND {IS_MINE}",
                ExpressionAttributeValues={":me": {"S": holder}},
            )


def _delivery_key(tenant_id: TenantId, delivery_id: str) -> Item:
    digest = sha256(delivery_id.encode()).hexdigest()
    return {"pk": {"S": notified(tenant_id, "deliveries")}, "sk": {"S": digest}}
