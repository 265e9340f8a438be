"""Concurrency keys in DynamoDB: their items, lost answers, and contention."""

from collections import deque
from functools import partial

import pytest
from botocore.exceptions import ClientError

from bench.units import item_size
from duetime.aws.keyed_items import item_key
from duetime.aws.keys import row_key
from duetime.errors import BackendUnavailable, UnreadableRow
from duetime.model.action import Status
from duetime.model.lease import Claimed, LeaseHeld, SettleResult
from duetime.model.slots import MOST_WAITING
from duetime.model.transition import started
from duetime.ports.slots import key_of
from duetime_contract.specimens import (
    ACME,
    NOON,
    ORPHANED_AT,
    end,
    fresh,
    stored_row,
    terms,
)
from tests.contract.networks import LosesAnAnswer
from tests.contract.rules.slots import (
    KEY,
    holders,
    holding,
    keyed,
    move_of,
    slots_of,
    take,
    waiting,
)


@pytest.fixture
def steady(table):
    """A store over the table, which nothing befalls."""
    return table.store()


def item(table):
    return table.client.get_item(
        TableName=table.name, Key=item_key(key_of(ACME, KEY)), ConsistentRead=True
    ).get("Item")


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
    assert slots["holders"] == {"M": {run.id: {"N": "0"}}}
    assert int(slots["ttl"]["N"]) == int(NOON.timestamp()) + 60 * 3600
    assert not slots.keys() & {"status", "due_shard", "correlation", "failed"}


def test_a_full_line_behind_a_holder_is_an_item_of_at_most_two_kilobytes(table, steady):
    holding(steady)
    waiting(steady, MOST_WAITING)
    assert item_size(item(table)) < 2_048


def test_an_action_without_a_concurrency_key_is_one_item(table, steady):
    action = fresh(steady)
    steady.put(action)
    steady.settle(steady.claim(action, terms()).action, end(Status.EXECUTED))
    assert len(table.client.scan(TableName=table.name)["Items"]) == 1


def test_a_slot_that_was_passed_or_freed_leaves_nothing_of_its_holder(table, steady):
    run, (first,) = holding(steady), waiting(steady)
    steady.move_slots(move_of(steady, run, first))
    assert item(table)["holders"] == {"M": {first.id: {"N": "0"}}}
    steady.move_slots(move_of(steady, first))
    assert item(table)["holders"] == {"M": {}}


def test_a_holder_whose_row_was_removed_is_evicted(table, steady):
    gone = holding(steady)
    table.client.delete_item(TableName=table.name, Key=row_key(gone.ref))
    assert steady.evict(move_of(steady, gone), None)
    assert holders(steady) == set()


@pytest.mark.parametrize("waits", [False, True])
def test_a_take_whose_response_was_lost_succeeds_when_repeated(table, steady, waits):
    action, slots = keyed(steady), slots_of(steady)
    worker = table.store(LosesAnAnswer(table.client, "update_item"))
    with pytest.raises(BackendUnavailable):
        worker.take_slot(action, slots, NOON)
    if waits:
        waiting(steady)
    assert worker.take_slot(action, slots, NOON)
    assert slots_of(steady).holders == {action.id: 0}


def test_a_claim_with_a_slot_whose_response_was_lost_succeeds_when_repeated(table, steady):
    action = keyed(steady)
    take(steady, action)
    claim_terms = terms()
    worker = table.store(LosesAnAnswer(table.client, "update_item"))
    with pytest.raises(BackendUnavailable):
        worker.claim(action, claim_terms)
    assert worker.claim(action, claim_terms) == Claimed(started(action, claim_terms))
    assert stored_row(steady, action.ref).fence == 1


def test_a_claim_with_a_slot_whose_response_comes_after_its_eviction_is_lost(table, steady):
    action = keyed(steady)
    take(steady, action)
    claim_terms = terms()

    def evict():
        assert steady.evict(move_of(steady, action), started(action, claim_terms))

    worker = table.store(LosesAnAnswer(table.client, "update_item", evict))
    with pytest.raises(BackendUnavailable):
        worker.claim(action, claim_terms)
    assert worker.claim(action, claim_terms) == LeaseHeld(claim_terms.lease_until)


def test_a_pass_whose_response_was_lost_succeeds_when_repeated(table, steady):
    run, (first,) = holding(steady), waiting(steady)
    move = move_of(steady, run, first)
    worker = table.store(LosesAnAnswer(table.client, "update_item"))
    with pytest.raises(BackendUnavailable):
        worker.move_slots(move)
    assert worker.move_slots(move)
    assert slots_of(steady).holders == {first.id: 0}


def test_an_eviction_whose_response_was_lost_has_freed_the_slot(table, steady):
    dead = holding(steady)
    move = move_of(steady, dead)
    worker = table.store(LosesAnAnswer(table.client, "transact_write_items"))
    with pytest.raises(BackendUnavailable):
        worker.evict(move, dead)
    assert not worker.evict(move, dead)
    assert (stored_row(steady, dead.ref).fence, holders(steady)) == (2, set())


@pytest.mark.parametrize("busy", BUSY)
def test_a_holder_that_others_are_at_for_a_moment_is_evicted_all_the_same(table, steady, busy):
    dead = holding(steady)
    worker = table.store(CancellingClient(table.client, busy))
    assert worker.evict(move_of(steady, dead), dead)


@pytest.mark.parametrize("busy", BUSY)
def test_a_constantly_contended_holder_is_not_evicted_and_nothing_raises(table, steady, busy):
    dead = holding(steady)
    worker = table.store(CancellingClient(table.client, *[busy] * OFTEN))
    assert not worker.evict(move_of(steady, dead), dead)
    assert steady.get(dead.ref) == dead


@pytest.mark.parametrize("name", ["waiting", "holders", "ttl"])
def test_a_damaged_item_of_a_key_is_unreadable(table, steady, name):
    holding(steady)
    waiting(steady)
    table.client.put_item(TableName=table.name, Item={**item(table), name: {"BOOL": True}})
    with pytest.raises(UnreadableRow):
        slots_of(steady)


def test_a_rejected_commit_and_an_evicted_one_leave_the_slots_as_they_are(table, steady):
    late = holding(steady)
    steady.evict(move_of(steady, late), late)
    executed = end(Status.EXECUTED, ORPHANED_AT)
    before = slots_of(steady)
    assert steady.commit(late, executed, entries=(), number=1) is SettleResult.LEASE_LOST
    assert slots_of(steady) == before
