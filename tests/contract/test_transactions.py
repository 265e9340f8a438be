"""Scheduling inside a caller's own transaction.

The business write and the action commit together, or neither.
"""

import pytest
from botocore.exceptions import ClientError

from duetime.errors import Unsupported
from duetime.memory.store import MemoryStore
from duetime_contract.scheduling import LARGE
from duetime_contract.specimens import claim, fresh

PAYLOADS = pytest.mark.parametrize("apart", [False, True], ids=["payload in the row", "payload apart"])
PAID = {"pk": {"S": "invoice#7"}, "sk": {"S": "state"}, "state_of_invoice": {"S": "paid"}}


def invoice(table):
    key = {"pk": PAID["pk"], "sk": PAID["sk"]}
    return table.client.get_item(TableName=table.name, Key=key, ConsistentRead=True).get("Item")


def put_invoice(table, condition="attribute_not_exists(pk)"):
    return {"Put": {"TableName": table.name, "Item": PAID, "ConditionExpression": condition}}


@PAYLOADS
def test_both_are_written(table, apart):
    store = table.store()
    action = fresh(store, payload=LARGE, payload_offloaded=apart, correlation_id="invoice:7")
    table.client.transact_write_items(TransactItems=[put_invoice(table), *store.entries(action)])
    assert invoice(table) == PAID
    assert store.get(action.ref) == action
    assert claim(store, action.ref).payload == LARGE


@PAYLOADS
def test_neither_is_written_when_the_business_write_is_rejected(table, apart):
    store = table.store()
    action = fresh(store, payload=LARGE, payload_offloaded=apart)
    with pytest.raises(ClientError, match="TransactionCanceled"):
        table.client.transact_write_items(
            TransactItems=[put_invoice(table, "attribute_exists(pk)"), *store.entries(action)]
        )
    assert invoice(table) is None
    assert store.get(action.ref) is None
    assert _items(table) == []


@PAYLOADS
def test_neither_is_written_when_the_action_is_there_already(table, apart):
    store = table.store()
    action = fresh(store, payload=LARGE, payload_offloaded=apart)
    store.put(action)
    ran = claim(store, action.ref)
    with pytest.raises(ClientError, match="TransactionCanceled"):
        table.client.transact_write_items(TransactItems=[put_invoice(table), *store.entries(action)])
    assert invoice(table) is None
    assert store.get(action.ref) == ran


def test_several_actions_fit_one_transaction(table):
    store = table.store()
    actions = [fresh(store) for _ in range(5)]
    entries = [entry for action in actions for entry in store.entries(action)]
    table.client.transact_write_items(TransactItems=[put_invoice(table), *entries])
    assert [store.get(action.ref) for action in actions] == actions


def test_the_memory_back_end_reports_no_transactions():
    store = MemoryStore()
    with pytest.raises(Unsupported, match="needs DynamoDB"):
        store.entries(fresh(store))


def _items(table):
    return table.client.scan(TableName=table.name)["Items"]
