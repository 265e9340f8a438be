"""Concurrency keys in DynamoDB: their items, lost answers, and others that are in the way."""

from collections import deque
from functools import partial

import pytest
from botocore.exceptions import ClientError

from duetime.aws.keys import row_key, slots_key
from duetime.errors import BackendUnavailable, CommitRejected
from duetime.model.action import Status
from duetime.model.lease import NeedsSlot, SettleResult
from duetime.model.transition import started
from duetime.testing.contract.slots import ENDS, KEY, begin, holding, keyed
from duetime.testing.contract.specimens import (
    ACME,
    EXPIRY,
    LEASE,
    NOON,
    ORPHANED_AT,
    end,
    fresh,
    stored_row,
    terms,
)
from tests.contract.networks import LosesAnAnswer

PAID = {"pk": {"S": "invoice#7"}, "sk": {"S": "state"}}


@pytest.fixture
def steady(table):
    """A store over the table, which nothing befalls."""
    return table.store()


def item(table):
    return table.client.get_item(TableName=table.name, Key=slots_key(ACME, KEY), ConsistentRead=True).get(
        "Item"
    )


class CancellingClient:
    """Makes the calls of a client, but cancels the first transactions for these reasons."""

    def __init__(self, client, *reasons):
        self._client, self._reasons = client, deque(reasons)

    def __getattr__(self, name):
        found = getattr(self._client, name)
        return partial(self._transact, found) if name == "transact_write_items" else found

    def _transact(self, found, **request):
        if not self._reasons:
            return found(**request)
        codes = [{"Code": item} for item in self._reasons.popleft()]
        assert len(codes) == len(request["TransactItems"])
        answer = {"Error": {"Code": "TransactionCanceledException"}, "CancellationReasons": codes}
        raise ClientError(answer, "TransactWriteItems")


BUSY = [("None", "TransactionConflict"), ("None", "ThrottlingError")]
OFTEN = 99


def test_slots_are_an_item_of_their_tenants_that_expires_when_unused_for_days(table, steady):
    run = holding(steady)
    slots = item(table)
    assert slots["holders"] == {"SS": [run.id]}
    assert int(slots["ttl"]["N"]) == int(NOON.timestamp()) + 2 * 24 * 3600
    assert not slots.keys() & {"status", "due_shard", "correlation", "failed"}


def test_an_action_without_a_concurrency_key_is_one_item(table, steady):
    action = fresh(steady)
    steady.put(action)
    steady.settle(steady.claim(action.ref, terms()).action, end(Status.EXECUTED))
    assert len(table.client.scan(TableName=table.name)["Items"]) == 1


def test_a_freed_slot_leaves_no_holders(table, steady):
    steady.settle(holding(steady), end(Status.EXECUTED))
    assert "holders" not in item(table)


def test_a_holder_whose_row_was_removed_is_evicted(table, steady):
    gone = holding(steady)
    table.client.delete_item(TableName=table.name, Key=row_key(gone.ref))
    assert steady.evict(ACME, KEY, gone.id, None)
    assert steady.holders(ACME, KEY) == frozenset()


def test_a_claim_with_a_slot_whose_response_was_lost_succeeds_when_repeated(table, steady):
    action = keyed(steady)
    claimed = started(action, terms())
    worker = table.store(LosesAnAnswer(table.client, "transact_write_items"))
    with pytest.raises(BackendUnavailable):
        worker.claim_slot(action, claimed)
    assert worker.claim_slot(action, claimed)
    assert stored_row(steady, action.ref).fence == 1


def test_a_claim_with_a_slot_whose_response_comes_after_its_eviction_is_lost(table, steady):
    action = keyed(steady)
    claimed = started(action, terms())

    def evict():
        assert steady.evict(ACME, KEY, action.id, claimed)

    worker = table.store(LosesAnAnswer(table.client, "transact_write_items", evict))
    with pytest.raises(BackendUnavailable):
        worker.claim_slot(action, claimed)
    assert not worker.claim_slot(action, claimed)
    assert worker.claim(action.ref, terms(ORPHANED_AT, nonce=claimed.claim_nonce)) == NeedsSlot()


@pytest.mark.parametrize("status", ENDS)
def test_a_settle_with_a_slot_whose_response_was_lost_succeeds_when_repeated(table, steady, status):
    run = holding(steady)
    worker = table.store(LosesAnAnswer(table.client, "transact_write_items"))
    with pytest.raises(BackendUnavailable):
        worker.settle(run, end(status))
    before = steady.get(run.ref)
    following = holding(steady)
    assert worker.settle(run, end(status)) is SettleResult.SETTLED
    assert (steady.get(run.ref), steady.holders(ACME, KEY)) == (before, {following.id})


def test_an_eviction_whose_response_was_lost_has_freed_the_slot(table, steady):
    dead = holding(steady)
    worker = table.store(LosesAnAnswer(table.client, "transact_write_items"))
    with pytest.raises(BackendUnavailable):
        worker.evict(ACME, KEY, dead.id, dead)
    assert not worker.evict(ACME, KEY, dead.id, dead)
    assert (stored_row(steady, dead.ref).fence, steady.holders(ACME, KEY)) == (2, frozenset())


@pytest.mark.parametrize("busy", BUSY)
def test_a_slot_that_others_are_at_for_a_moment_is_taken_all_the_same(table, steady, busy):
    worker = table.store(CancellingClient(table.client, busy))
    action = keyed(steady)
    assert begin(worker, action.ref)
    assert steady.holders(ACME, KEY) == {action.id}


@pytest.mark.parametrize("busy", BUSY)
def test_a_constantly_contended_slot_is_not_taken_and_nothing_raises(table, steady, busy):
    worker = table.store(CancellingClient(table.client, *[busy] * OFTEN))
    action = keyed(steady)
    assert not begin(worker, action.ref)
    assert not worker.evict(ACME, KEY, action.id, action)
    assert steady.get(action.ref) == action


@pytest.mark.parametrize("busy", BUSY)
@pytest.mark.parametrize("status", ENDS)
def test_a_run_whose_key_is_too_busy_is_settled_and_its_slot_is_evicted_later(table, steady, busy, status):
    run = holding(steady)
    worker = table.store(CancellingClient(table.client, *[busy[::-1], busy] * OFTEN))
    assert worker.settle(run, end(status)) is SettleResult.SETTLED
    row = stored_row(steady, run.ref)
    assert (row.status, steady.holders(ACME, KEY)) == (status, {run.id})
    assert steady.evict(ACME, KEY, run.id, row)
    assert (steady.get(run.ref), steady.holders(ACME, KEY)) == (row, frozenset())


def test_a_retry_that_retained_its_slot_continues_with_it(table, steady):
    run = holding(steady)
    busy = table.store(CancellingClient(table.client, *[BUSY[0]] * OFTEN))
    busy.settle(run, end(Status.PENDING))
    assert begin(steady, run.ref, terms(EXPIRY))
    assert steady.holders(ACME, KEY) == {run.id}


def paid(table):
    entry = {
        "Put": {"TableName": table.name, "Item": PAID, "ConditionExpression": "attribute_not_exists(pk)"}
    }
    found = table.client.get_item(TableName=table.name, Key=PAID, ConsistentRead=True)
    return entry, "Item" in found


def test_a_commit_frees_the_slot_with_the_handlers_writes(table, steady):
    run = holding(steady)
    entry, _ = paid(table)
    assert steady.commit(run, end(Status.EXECUTED), entries=[entry], number=1) is SettleResult.SETTLED
    assert (paid(table)[1], steady.holders(ACME, KEY)) == (True, frozenset())


def test_a_commit_with_a_busy_key_succeeds_and_its_slot_is_evicted_later(table, steady):
    run = holding(steady)
    entry, _ = paid(table)
    worker = table.store(CancellingClient(table.client, *[("None", "TransactionConflict", "None")] * 6))
    assert worker.commit(run, end(Status.EXECUTED), entries=[entry], number=1) is SettleResult.SETTLED
    assert paid(table)[1]
    assert steady.holders(ACME, KEY) == {run.id}
    assert steady.evict(ACME, KEY, run.id, stored_row(steady, run.ref))


def test_a_rejected_commit_retains_the_slot_and_names_the_handlers_entries_alone(table, steady):
    run = holding(steady)
    entry, _ = paid(table)
    table.client.put_item(TableName=table.name, Item=PAID)
    with pytest.raises(CommitRejected) as refused:
        steady.commit(run, end(Status.EXECUTED), entries=[entry], number=1)
    assert [reason.index for reason in refused.value.reasons] == [0]
    assert steady.holders(ACME, KEY) == {run.id}
    assert steady.renew(run, NOON + LEASE) is not None


def test_a_commit_of_an_evicted_run_writes_nothing(table, steady):
    late = holding(steady)
    steady.evict(ACME, KEY, late.id, late)
    entry, _ = paid(table)
    executed = end(Status.EXECUTED, ORPHANED_AT)
    assert steady.commit(late, executed, entries=[entry], number=1) is SettleResult.LEASE_LOST
    assert not paid(table)[1]
