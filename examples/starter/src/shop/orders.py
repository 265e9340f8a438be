"""The orders: your own table, and the reminder that an order schedules in its transaction."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from duetime import Action, Payload, Scheduler

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

TABLE = "shop-orders"
REMIND_AFTER = timedelta(days=3)


class Remind(Payload):
    """A reminder, to be sent unless the order is paid by then."""

    order: str


def place(client: DynamoDBClient, scheduler: Scheduler, order: str) -> Action:
    """Store an order and schedule its reminder: both, or neither."""
    reminder, items = scheduler.transact_items(
        Remind(order=order), at=REMIND_AFTER, correlation_id=f"order:{order}"
    )
    transaction: list[Any] = [
        {
            "Put": {
                "TableName": TABLE,
                "Item": {"id": {"S": order}, "state": {"S": "unpaid"}},
                "ConditionExpression": "attribute_not_exists(id)",
            }
        },
        *items,
    ]
    client.transact_write_items(TransactItems=transaction)
    return reminder


def pay(client: DynamoDBClient, scheduler: Scheduler, order: str) -> None:
    """Record the payment, and cancel the reminder."""
    client.update_item(
        TableName=TABLE,
        Key={"id": {"S": order}},
        UpdateExpression="SET #state = :paid",
        ExpressionAttributeNames={"#state": "state"},
        ExpressionAttributeValues={":paid": {"S": "paid"}},
    )
    scheduler.cancel_many(correlation_id=f"order:{order}")
