"""A commit into a table that is missing, or that the worker may not write.

The table's name decides which.
"""

import pytest
from botocore.exceptions import ClientError

from duetime.errors import BackendMisconfigured, truncate
from duetime.model.outcome import of_error
from duetime_contract.committing import DONE, commit
from duetime_contract.specimens import fresh, running

WORKER = "arn:aws:sts::123456789012:assumed-role/duetime-worker-default-role/duetime-worker-default"
DENIED = (
    f"User: {WORKER} is not authorized to perform: dynamodb:PutItem on resource:"
    " arn:aws:dynamodb:us-east-1:123456789012:table/orders because no identity-based policy allows the"
    " dynamodb:PutItem action"
)
KEY = {"id": {"S": "o-1"}}


def put(table):
    return {"Put": {"TableName": table, "Item": KEY}}


def entry(kind, table, **more):
    return {kind: {"TableName": table, "Key": KEY, **more}}


EACH_KIND = [
    put("orders"),
    entry(
        "Update", "orders", UpdateExpression="SET paid = :yes", ExpressionAttributeValues={":yes": {"N": "1"}}
    ),
    entry("Delete", "carts"),
    entry("ConditionCheck", "stock", ConditionExpression="attribute_exists(id)"),
]


class Guarded:
    """A client whose role may write to duetime's own tables only; other writes fail as IAM fails them."""

    def __init__(self, client):
        self._client = client

    def __getattr__(self, name):
        return getattr(self._client, name)

    def transact_write_items(self, **_asked):
        answer = {"Error": {"Code": "AccessDeniedException", "Message": DENIED}}
        raise ClientError(answer, "TransactWriteItems")


@pytest.fixture
def orders(table):
    def make():
        table.client.create_table(
            TableName="orders",
            BillingMode="PAY_PER_REQUEST",
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        )

    yield make
    table.client.delete_table(TableName="orders")


@pytest.fixture
def region(table):
    return table.client.meta.region_name


def refusal(store, entries):
    claimed = running(store)
    with pytest.raises(BackendMisconfigured) as refused:
        commit(store, claimed, entries)
    assert store.get(claimed.ref) == claimed
    return refused.value


def test_an_error_names_a_missing_table_and_its_region(table, region):
    refused = refusal(table.store(), [put("orders")])
    assert refused.cure == f"Make the table orders in {region}, or check the table that each entry names"


def test_an_error_names_all_tables_since_dynamodb_does_not_name_the_missing_one(table, region):
    refused = refusal(table.store(), [put("orders"), entry("Delete", "carts"), put("orders")])
    assert f"(whichever is missing) orders, carts in {region}" in refused.cure


def test_the_tables_of_duetime_itself_are_not_among_them(table):
    store = table.store()
    refused = refusal(store, [*store.entries(fresh(store)), put("orders")])
    assert "the table orders in" in refused.cure


def test_the_run_goes_on_and_may_commit_once_the_table_is_there(table, orders):
    store = table.store()
    claimed = running(store)
    with pytest.raises(BackendMisconfigured):
        commit(store, claimed, [put("orders")])
    orders()
    assert commit(store, claimed, [put("orders")], number=2) is DONE


def test_an_access_error_names_the_rights_that_a_role_needs_on_each_table(table, region):
    refused = refusal(table.store(Guarded(table.client)), EACH_KIND)
    assert refused.cure == (
        f"Give the worker's role, in {region}: dynamodb:PutItem, dynamodb:UpdateItem on orders; "
        "dynamodb:DeleteItem on carts; dynamodb:ConditionCheckItem on stock"
    )


@pytest.mark.parametrize("guard", [lambda client: client, Guarded], ids=["missing", "denied"])
def test_the_stored_error_names_the_table_and_the_remedy(table, guard):
    refused = refusal(table.store(guard(table.client)), [put("orders")])
    cause = f"{type(refused.__cause__).__name__}: {refused.__cause__}"
    assert of_error(refused).message == truncate(f"BackendMisconfigured: {refused}; caused by {cause}")
    assert "orders" in refused.cure
