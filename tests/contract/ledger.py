"""A table of the handler's own, in which a second time would show."""

import pytest

LEDGER = "ledger"


class Ledger:
    """A table of the handler's own."""

    def __init__(self, client):
        self.client = client

    def item(self, account="a-1"):
        key = {"account": {"S": account}}
        return self.client.get_item(TableName=LEDGER, Key=key, ConsistentRead=True).get("Item")

    def balance(self, account="a-1"):
        item = self.item(account)
        return int(item["balance"]["N"]) if item else 0

    @staticmethod
    def book(amount=1, account="a-1", **more):
        """An entry that would show a second time."""
        return {
            "Update": {
                "TableName": LEDGER,
                "Key": {"account": {"S": account}},
                "UpdateExpression": "ADD balance :amount",
                "ExpressionAttributeValues": {":amount": {"N": str(amount)}},
                **more,
            }
        }

    @staticmethod
    def open(account="a-1", **more):
        """An entry that only the first one gets through."""
        return {
            "Put": {
                "TableName": LEDGER,
                "Item": {"account": {"S": account}, "balance": {"N": "100"}},
                "ConditionExpression": "attribute_not_exists(account)",
                **more,
            }
        }


@pytest.fixture
def ledger(table):
    table.client.create_table(
        TableName=LEDGER,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "account", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "account", "AttributeType": "S"}],
    )
    yield Ledger(table.client)
    table.client.delete_table(TableName=LEDGER)
