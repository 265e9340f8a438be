"""Debounce keys in DynamoDB: their items, and calls whose response is lost."""

from datetime import timedelta

import pytest
from botocore.exceptions import ReadTimeoutError

from duetime.aws.keyed_items import item_key
from duetime.aws.keys import row_key
from duetime.errors import BackendUnavailable
from duetime.ids import SEPARATOR
from duetime.model.lease import Applied, Rejected
from duetime.ports.action_keys import DEBOUNCE_KEY, key_of
from duetime_contract.scheduling import LARGE
from duetime_contract.specimens import ACME, NOON, claim, fresh, stored_row
from tests.contract.networks import LosesAnAnswer
from tests.contract.rules.debounce import (
    KEY,
    LARGER,
    NEWER,
    call,
    first_call,
    further_call,
    holder_of,
    repeated,
)

DAY = timedelta(days=1)


@pytest.fixture
def steady(table):
    """A store over the table, which loses nothing."""
    return table.store()


def items(table, place="debounce"):
    found = table.client.scan(TableName=table.name, ConsistentRead=True)["Items"]
    return [item for item in found if f"{SEPARATOR}{place}{SEPARATOR}" in item["pk"]["S"]]


def test_a_key_is_an_item_of_its_tenants_that_expires_long_after_its_action(table, steady):
    action = first_call(steady)
    [item] = items(table)
    assert (item["pk"]["S"].split(SEPARATOR)[0], item["sk"]["S"]) == (ACME, KEY)
    assert item.keys() == {"pk", "sk", "action_id", "ttl"}
    assert item["action_id"]["S"] == action.id
    assert int(item["ttl"]["N"]) > (NOON + 300 * DAY).timestamp()


def test_an_action_without_a_key_writes_none(table, steady):
    steady.put(fresh(steady))
    assert items(table) == []


def test_a_call_that_moves_an_action_far_renews_its_key(table, steady):
    first_call(steady)
    later = call(steady, due_at=NOON + 300 * DAY)
    assert isinstance(further_call(steady, later), Applied)
    assert holder_of(steady).until > later.due_at + 300 * DAY
    near = holder_of(steady).until
    assert isinstance(further_call(steady, call(steady, due_at=NOON)), Applied)
    assert holder_of(steady).until == near


@pytest.mark.parametrize("payload", [NEWER, LARGE], ids=["small", "large"])
@pytest.mark.parametrize("then", ["nothing", "another call", "a claim"])
def test_a_further_call_whose_response_was_lost_is_applied_once(table, steady, payload, then):
    action = first_call(steady)
    operation = "transact_write_items" if payload == LARGE else "update_item"

    def meanwhile():
        if then == "another call":
            further_call(steady, call(steady, payload=LARGER))
        elif then == "a claim":
            claim(steady, action.ref)

    caller = table.store(LosesAnAnswer(table.client, operation, meanwhile))
    outcome = further_call(caller, call(steady, payload=payload))
    assert isinstance(outcome, Applied)
    row = stored_row(steady, action.ref)
    assert row.debounced.calls == (2 if then == "another call" else 1)
    assert row.payload == (LARGER if then == "another call" else payload)


def test_a_first_call_whose_response_was_lost_finds_its_own_row(table, steady):
    action = call(steady)
    caller = table.store(LosesAnAnswer(table.client, "transact_write_items"))
    assert caller.put_debounced(action, None)
    assert steady.get(action.ref) == action
    assert holder_of(steady).action_id == action.id


class NeverSends:
    """A network on which no write arrives."""

    def __init__(self, client):
        self._client = client

    def __getattr__(self, name):
        return getattr(self._client, name)

    def _fail(self, **_asked):
        raise ReadTimeoutError(endpoint_url="the table")

    transact_write_items = update_item = _fail


def test_a_call_that_never_arrived_is_in_doubt_and_changes_nothing(table, steady):
    caller = table.store(NeverSends(table.client))
    with pytest.raises(BackendUnavailable):
        caller.put_debounced(call(steady), None)
    assert items(table) == []
    action = first_call(steady)
    with pytest.raises(BackendUnavailable):
        further_call(caller, call(steady, payload=NEWER))
    assert steady.get(action.ref) == action


def test_a_key_whose_row_was_removed_is_taken_over(table, steady):
    first = first_call(steady)
    table.client.delete_item(TableName=table.name, Key=row_key(first.ref))
    second = call(steady)
    assert repeated(steady, second) == second
    assert holder_of(steady).action == second


def test_a_key_that_was_removed_while_its_action_waits_is_free(table, steady):
    first = first_call(steady)
    table.client.delete_item(TableName=table.name, Key=item_key(key_of(DEBOUNCE_KEY, ACME, KEY)))
    assert steady.find_debounced(ACME, KEY) is None
    assert repeated(steady, call(steady)).id != first.id


def test_a_key_that_names_a_row_of_another_key_changes_nothing_of_it(table, steady):
    other = first_call(steady, key="another")
    key = item_key(key_of(DEBOUNCE_KEY, ACME, KEY))
    table.client.put_item(
        TableName=table.name, Item={**key, "action_id": {"S": other.id}, "ttl": {"N": "4102444800"}}
    )
    assert holder_of(steady).action is None
    second = repeated(steady, call(steady, payload=NEWER))
    assert steady.get(other.ref) == other
    assert stored_row(steady, second.ref).payload == NEWER


def test_a_call_that_would_renew_the_key_of_another_action_is_rejected(table, steady):
    first = first_call(steady)
    read, later = holder_of(steady), call(steady, due_at=NOON + 300 * DAY)
    table.client.delete_item(TableName=table.name, Key=item_key(key_of(DEBOUNCE_KEY, ACME, KEY)))
    second = first_call(steady)
    assert isinstance(further_call(steady, later, holder=read), Rejected)
    assert steady.get(first.ref) == first
    assert holder_of(steady).action == second
