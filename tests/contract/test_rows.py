"""The rows as DynamoDB keeps them: how large they are, and what happens to one that cannot be read."""

from dataclasses import replace
from datetime import timedelta

import pytest
from botocore.exceptions import ClientError

from duetime.aws.items import to_item
from duetime.aws.keys import payload_key, row_key
from duetime.aws.payloads import DynamoPayloads
from duetime.errors import BackendUnavailable
from duetime.model import transition
from duetime.model.action import SkipReason, Status
from duetime.model.change import Change
from duetime.model.lease import Applied
from duetime.wakeups.arm import Arm
from duetime_contract.scheduling import LARGE
from duetime_contract.specimens import (
    ACME,
    CALLER,
    HOUR,
    NOON,
    SECOND,
    claim,
    due_entries,
    end,
    fresh,
    scheduled,
    stored_row,
    terms,
)
from tests.backends import backends
from tests.contract.rules.idempotency import key_from, under_key
from tests.contract.sent_requests import sent_by

KILOBYTE = 1_024
SPOILT = [
    {"status": {"S": "frozen"}},
    {"attempts": {"L": [{"M": {}}]}},
    {"fence": {"S": "one"}},
    {"generation": {"N": "1.5"}},
    {"lease_until": {"S": "soon"}},
    {"ttl": {"N": "1" + "0" * 30}},
]


@pytest.fixture
def spoil(table):
    """Write over attributes of a row, as some other program might."""

    def write(action, attributes):
        item = to_item(action) | attributes
        table.client.put_item(TableName=table.name, Item=item)

    return write


@pytest.mark.parametrize("attributes", SPOILT, ids=lambda attributes: next(iter(attributes)))
def test_an_unreadable_row_is_passed_by_among_good_ones(table, spoil, attributes):
    store = table.store()
    actions = [
        replace(fresh(store, created_at=NOON + place * SECOND, correlation_id="subscription:42"))
        for place in range(3)
    ]
    store.put_many(actions)
    spoil(actions[1], attributes)
    good = [actions[0].id, actions[2].id]
    assert sorted(row.id for row in store.get_rows([action.ref for action in actions])) == good
    assert [row.id for row in store.of_tenant(ACME, limit=10, cursor=None)] == good[::-1]
    correlated = store.by_correlation(ACME, "subscription:42", limit=10, cursor=None)
    assert [row.id for row in correlated] == good


def test_a_row_without_a_type_is_passed_by_too(table):
    store = table.store()
    good, bad = scheduled(store), fresh(store)
    item = to_item(bad)
    del item["type"]
    table.client.put_item(TableName=table.name, Item=item)
    assert [row.id for row in store.get_rows([good.ref, bad.ref])] == [good.id]


def test_an_unreadable_due_time_holds_up_none_behind_it(table, spoil):
    store = table.store()
    shard = store.due_shards[0]
    good, bad = (replace(fresh(store), due_shard=shard) for _ in range(2))
    store.put(good)
    spoil(bad, {"due_at": {"S": "2029-13-45"}})
    assert good.ref in [due_entry.ref for due_entry in due_entries(store, shard, limit=1)]


def test_a_removed_offloaded_payload_has_no_item(table):
    store = table.store()
    action = fresh(store, payload=LARGE, payload_offloaded=True)
    store.put(action)
    store.remove_payload(action.ref)
    key = payload_key(action.ref)
    assert "Item" not in table.client.get_item(TableName=table.name, Key=key, ConsistentRead=True)
    row = store.get(action.ref)
    assert row == action.without_payload()


def test_an_action_without_its_payload_can_be_changed(table):
    store = table.store()
    action = fresh(store, payload=LARGE, payload_offloaded=True)
    store.put(action)
    store.remove_payload(action.ref)
    assert isinstance(store.reschedule(action, NOON + HOUR, by=CALLER, at=NOON), Applied)
    store.settle(claim(store, action.ref, NOON + HOUR), end(Status.FAILED, NOON + HOUR))
    failed = stored_row(store, action.ref)
    assert isinstance(store.redrive(failed, NOON + 2 * HOUR, by=CALLER, at=NOON + HOUR), Applied)


def test_a_payload_set_apart_outlives_a_later_due_time(table):
    store = table.store()
    action = fresh(store, payload=LARGE, payload_offloaded=True)
    store.put(action)
    before = _ttl(table, action)
    store.reschedule(action, NOON + 1_000 * HOUR, by=CALLER, at=NOON)
    assert _ttl(table, action) == before + 1_000 * 3_600


YEARS = timedelta(days=3_650)


def _settles(store, action):
    store.settle(claim(store, action.ref), replace(end(Status.EXECUTED), kept_until=NOON + YEARS))


def _fails_again(store, action):
    """Its retention was short when it failed first, and is long by the time that it was redriven."""
    store.settle(claim(store, action.ref), end(Status.FAILED))
    store.redrive(stored_row(store, action.ref), NOON + HOUR, by=CALLER, at=NOON)
    again = claim(store, action.ref, NOON + HOUR)
    store.settle(again, replace(end(Status.FAILED, NOON + HOUR), kept_until=NOON + YEARS))


def _is_cancelled(store, action):
    store.cancel(action, by=CALLER, at=NOON, kept_until=NOON + YEARS)


def _is_cancelled_sooner(store, action):
    store.reschedule(action, NOON - HOUR, by=CALLER, at=NOON)
    _is_cancelled(store, stored_row(store, action.ref))


def _is_skipped(store, action):
    store.skip(action, SkipReason.REQUESTED, note="", by=CALLER, at=NOON, kept_until=NOON + YEARS)


def _is_released(store, action):
    """Its predecessors decide that it is skipped."""
    more = {"note": "", "by": CALLER, "at": NOON, "kept_until": NOON + YEARS}
    store.release(action, transition.skipped(action, SkipReason.REQUESTED, **more))


@pytest.mark.parametrize(
    "ends", [_settles, _fails_again, _is_cancelled, _is_cancelled_sooner, _is_skipped, _is_released]
)
def test_a_payload_set_apart_outlives_its_row_under_any_retention(table, ends):
    store = table.store()
    action = fresh(store, payload=LARGE, payload_offloaded=True)
    store.put(action)
    ends(store, action)
    row = stored_row(store, action.ref)
    assert row.kept_until == NOON + YEARS
    assert _ttl(table, action) > row.kept_until.timestamp()
    assert row.payload == LARGE


def _commits(store, action):
    store.commit(claim(store, action.ref), end(Status.EXECUTED), entries=[], number=1)


@pytest.mark.parametrize("ends", [_settles, _commits, _is_cancelled, _is_skipped, _is_released])
def test_a_row_ends_only_after_its_payload_has_the_longer_time_to_live(table, monkeypatch, ends):
    store = table.store()
    action = fresh(store, payload=LARGE, payload_offloaded=True)
    store.put(action)
    monkeypatch.setattr(DynamoPayloads, "outlive", fails)
    with pytest.raises(BackendUnavailable):
        ends(store, action)
    assert not stored_row(store, action.ref).status.is_final


def fails(*_given):
    raise BackendUnavailable("the actions table", "it is throttled")


def test_a_commit_without_entries_is_one_update(table):
    store = table.store()
    action = fresh(store)
    store.put(action)
    claimed = claim(store, action.ref)
    with sent_by(table.client) as sent:
        store.commit(claimed, end(Status.EXECUTED), entries=[], number=1)
    assert sent == ["UpdateItem"]


def test_arm_removes_the_payload_and_the_key_of_a_row_that_is_gone(table):
    store = table.store()
    action = store.put_once(under_key(store, payload=LARGE), key_from(NOON))
    Arm(backends(store))([Change(action, None)])
    assert "Item" not in table.client.get_item(TableName=table.name, Key=payload_key(action.ref))
    other = under_key(store)
    assert store.put_once(other, key_from(NOON)).id == other.id


def test_a_payload_set_apart_costs_no_write_at_its_end_under_a_short_retention(table):
    store = table.store()
    action = fresh(store, payload=LARGE, payload_offloaded=True)
    store.put(action)
    before = _ttl(table, action)
    store.settle(claim(store, action.ref), end(Status.EXECUTED))
    assert _ttl(table, action) == before


def test_a_row_of_600_bytes_of_payload_fits_one_write_unit_all_its_life(table):
    store = table.store()
    payload = '{"text":"' + "x" * 589 + '"}'
    assert len(payload) == 600
    action = replace(fresh(store, payload=payload), tenant_id="customer-0042")
    store.put(action)
    sizes = [item_size(_item(table, action))]
    claimed = store.claim(action, replace(terms(), instance="x" * 16, retry="[3,[60,300,900],0.1,null]"))
    sizes.append(item_size(_item(table, action)))
    store.settle(claimed.action, end(Status.EXECUTED))
    sizes.append(item_size(_item(table, action)))
    assert max(sizes) <= KILOBYTE, sizes


def item_size(item):
    """An item's size as the DynamoDB Developer Guide defines it ("DynamoDB item sizes and formats")."""
    return sum(len(name.encode()) + _value_size(value) for name, value in item.items())


def _value_size(value):
    ((kind, held),) = value.items()
    match kind:
        case "S":
            return len(held.encode())
        case "N":
            digits = held.replace(".", "").strip("-0")
            return (len(digits) + 1) // 2 + 1 + held.startswith("-")
        case "BOOL" | "NULL":
            return 1
        case "L":
            return 3 + sum(1 + _value_size(value) for value in held)
        case "M":
            return 3 + sum(1 + len(name.encode()) + _value_size(value) for name, value in held.items())
    raise AssertionError(f"duetime writes no {kind}")


@pytest.mark.dynamodb_local
def test_the_engine_rejects_an_index_key_that_is_not_a_string(local_table):
    store = local_table.store()
    item = to_item(fresh(store)) | {"due_at": {"N": "1"}}
    with pytest.raises(ClientError, match="Type mismatch for Index Key"):
        local_table.client.put_item(TableName=local_table.name, Item=item)


@pytest.mark.dynamodb_local
def test_the_engine_rejects_a_reserved_word_without_an_alias(local_table):
    action = scheduled(local_table.store())
    with pytest.raises(ClientError, match="reserved keyword: status"):
        local_table.client.update_item(
            TableName=local_table.name, Key=row_key(action.ref), UpdateExpression="REMOVE status"
        )


def _item(table, action):
    return table.client.get_item(TableName=table.name, Key=row_key(action.ref), ConsistentRead=True)["Item"]


def _ttl(table, action):
    key = payload_key(action.ref)
    item = table.client.get_item(TableName=table.name, Key=key, ConsistentRead=True)["Item"]
    return int(item["ttl"]["N"])
