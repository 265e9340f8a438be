"""The writes of version 0.1.0 under a concurrency key: its workers run beside newer ones in a deploy.

Each is one transaction of the key's item and a row. They are written out, and never change.
"""

from datetime import timedelta

from duetime.aws import conditions, optimistic
from duetime.aws.faults import TransactionFailed
from duetime.aws.items import to_epoch
from duetime.aws.keys import row_key, slots_key
from duetime.aws.transactions import update, write
from duetime.model.action import Status


class OldWorker:
    """A worker of 0.1.0 over a table."""

    def __init__(self, table):
        self.client, self.name = table.client, table.name

    def holders(self, row):
        key = slots_key(row.tenant_id, row.concurrency_key)
        item = self.client.get_item(TableName=self.name, Key=key, ConsistentRead=True).get("Item", {})
        return {*item["holders"]["SS"]} if "holders" in item else set()

    def claim_slot(self, row, claimed):
        take = {
            "ConditionExpression": (
                "attribute_not_exists(holders) OR size(holders) < :limit"
                " OR (contains(holders, :id) AND size(holders) <= :limit)"
            ),
            "UpdateExpression": "ADD holders :me SET #ttl = :ttl",
            "ExpressionAttributeNames": {"#ttl": "ttl"},
            "ExpressionAttributeValues": {
                ":limit": {"N": str(claimed.concurrency_limit)},
                ":id": {"S": claimed.id},
                ":me": {"SS": [claimed.id]},
                ":ttl": {"N": to_epoch(claimed.attempts[-1].started_at + timedelta(days=2))},
            },
        }
        return self._write(row, optimistic.claim_row(row, claimed), take)

    def settle(self, claimed, settlement):
        free = {
            "UpdateExpression": "DELETE holders :me",
            "ExpressionAttributeValues": {":me": {"SS": [claimed.id]}},
        }
        return self._write(claimed, conditions.settle(claimed, settlement), free)

    def evict(self, dead):
        """It counts a pending holder as dead, and leaves its fence."""
        drop = {
            "ConditionExpression": "contains(holders, :id)",
            "UpdateExpression": "DELETE holders :dead",
            "ExpressionAttributeValues": {":id": {"S": dead.id}, ":dead": {"SS": [dead.id]}},
        }
        return self._write(dead, optimistic.still_dead(dead), drop)

    def is_dead(self, holder, now):
        return holder.status is not Status.PROCESSING or holder.lease_until < now

    def _write(self, row, change, of_slots):
        key = slots_key(row.tenant_id, row.concurrency_key)
        try:
            write(
                self.client, [update(self.name, row_key(row.ref), change), update(self.name, key, of_slots)]
            )
        except TransactionFailed:
            return False
        return True
