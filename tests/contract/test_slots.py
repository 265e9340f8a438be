"""Concurrency keys in DynamoDB: their items, lost answers, contention, and workers of 0.1.0."""

from collections import deque
from functools import partial

import pytest
from botocore.exceptions import ClientError

from bench.units import item_size
from duetime.aws.keys import row_key, slots_key
from duetime.errors import BackendUnavailable, UnreadableRow
from duetime.model.action import Status
from duetime.model.lease import NeedsSlot, SettleResult
from duetime.model.slots import MOST_WAITING
from duetime.model.transition import started
from duetime.testing.contract.slots import (
    ENDS,
    KEY,
    begin,
    holders,
    holding,
    keyed,
    move_of,
    slots_of,
    take,
    waiting,
)
from duetime.testing.contract.specimens import (
    ACME,
    HOUR,
    NOON,
    ORPHANED_AT,
    SECOND,
    end,
    fresh,
    stored_row,
    terms,
)
from duetime.worker.claim_results import ClaimWon, Waiting
from tests.contract.networks import LosesAnAnswer
from tests.contract.slots_0_1_0 import OldWorker
from tests.slots import claim_of


@pytest.fixture
def steady(table):
    """A store over the table, which nothing befalls."""
    return table.store()


@pytest.fixture
def old(table):
    return OldWorker(table)


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
    assert slots[f"fence:{run.id}"] == {"N": "0"}
    assert int(slots["ttl"]["N"]) == int(NOON.timestamp()) + 60 * 3600
    assert not slots.keys() & {"status", "due_shard", "correlation", "failed"}


def test_a_full_line_behind_a_holder_is_an_item_of_at_most_two_kilobytes(table, steady):
    holding(steady)
    waiting(steady, MOST_WAITING)
    assert item_size(item(table)) < 2_048


def test_an_action_without_a_concurrency_key_is_one_item(table, steady):
    action = fresh(steady)
    steady.put(action)
    steady.settle(steady.claim(action.ref, terms()).action, end(Status.EXECUTED))
    assert len(table.client.scan(TableName=table.name)["Items"]) == 1


def test_a_freed_slot_leaves_neither_holders_nor_a_token(table, steady):
    run = holding(steady)
    steady.move_slots(move_of(steady, run))
    assert item(table).keys() == {"pk", "sk", "ttl"}


def test_a_passed_slot_leaves_the_token_of_its_holder_alone(table, steady):
    run, (first,) = holding(steady), waiting(steady)
    steady.move_slots(move_of(steady, run, first))
    assert {name for name in item(table) if name.startswith("fence:")} == {f"fence:{first.id}"}


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
    claimed = started(action, terms())
    worker = table.store(LosesAnAnswer(table.client, "update_item"))
    with pytest.raises(BackendUnavailable):
        worker.claim_row(action, claimed)
    assert worker.claim_row(action, claimed)
    assert stored_row(steady, action.ref).fence == 1


def test_a_claim_with_a_slot_whose_response_comes_after_its_eviction_is_lost(table, steady):
    action = keyed(steady)
    take(steady, action)
    claimed = started(action, terms())

    def evict():
        assert steady.evict(move_of(steady, action), claimed)

    worker = table.store(LosesAnAnswer(table.client, "update_item", evict))
    with pytest.raises(BackendUnavailable):
        worker.claim_row(action, claimed)
    assert not worker.claim_row(action, claimed)
    assert worker.claim(action.ref, terms(ORPHANED_AT, nonce=claimed.claim_nonce)) == NeedsSlot()


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


def test_a_run_of_0_1_0_holds_its_slot_and_its_settle_frees_it(old, steady):
    run, other = keyed(steady), keyed(steady)
    claimed = started(run, terms())
    assert old.claim_slot(run, claimed)
    assert slots_of(steady).holders == {run.id: None}
    assert not begin(steady, other.ref)
    assert steady.wait_for_slot(other, slots_of(steady))
    assert old.settle(claimed, end(Status.EXECUTED))
    assert isinstance(claim_of(steady).with_slot(other, terms()), ClaimWon)


def test_0_1_0_takes_no_slot_that_a_run_or_its_successor_in_the_line_holds(old, steady):
    run, (first,), other = holding(steady), waiting(steady), keyed(steady)
    assert not old.claim_slot(other, started(other, terms()))
    steady.move_slots(move_of(steady, run, first))
    assert not old.claim_slot(other, started(other, terms()))


@pytest.mark.parametrize("status", ENDS)
def test_0_1_0_evicts_what_a_settle_has_left(old, steady, status):
    run, other = holding(steady), keyed(steady)
    steady.settle(run, end(status))
    assert old.evict(stored_row(steady, run.ref))
    assert old.claim_slot(other, started(other, terms()))


def test_a_run_that_0_1_0_evicts_before_its_claim_never_begins(old, steady):
    action, other = keyed(steady), keyed(steady)

    class Evicted(type(steady)):
        def claim_row(self, row, claimed):
            assert old.evict(row)
            assert old.claim_slot(other, started(other, terms()))
            return steady.claim_row(row, claimed)

    worker = object.__new__(Evicted)
    worker.__dict__.update(steady.__dict__)
    assert claim_of(worker).with_slot(action, terms()) is None
    assert stored_row(steady, action.ref).status is Status.PENDING
    assert old.holders(action) == {other.id}


def test_0_1_0_evicts_no_run_that_has_begun(old, steady):
    action = keyed(steady)
    take(steady, action)
    begin(steady, action.ref)
    assert not old.evict(action)
    assert old.holders(action) == {action.id}


def test_a_late_free_frees_no_slot_that_0_1_0_has_taken_since(old, steady):
    """It leaves no token, but the item has another time to live."""
    run = holding(steady)
    late = move_of(steady, run, may_run_again=True)
    steady.settle(run, end(Status.PENDING))
    row = stored_row(steady, run.ref)
    assert old.evict(row)
    for second in range(3):
        again = started(row, terms(NOON + 2 * HOUR + second * SECOND))
        assert old.claim_slot(row, again)
        assert not steady.move_slots(late)
        assert old.settle(again, end(Status.PENDING))
        row = stored_row(steady, run.ref)


def test_a_dead_run_of_0_1_0_is_taken_over_with_its_slot(old, steady):
    run = keyed(steady)
    assert old.claim_slot(run, started(run, terms()))
    won = claim_of(steady, now=ORPHANED_AT).with_slot(stored_row(steady, run.ref), terms(ORPHANED_AT))
    assert (won.action.fence, won.slots.holders[run.id]) == (2, 1)


def test_an_action_behind_a_run_of_0_1_0_waits_in_line_and_checks_soon(old, steady):
    run, other = keyed(steady), keyed(steady)
    assert old.claim_slot(run, started(run, terms()))
    assert claim_of(steady).with_slot(other, terms()) == Waiting(2)
    assert slots_of(steady).waiting == (other.id,)


def test_a_rejected_commit_and_an_evicted_one_leave_the_slots_as_they_are(table, steady):
    late = holding(steady)
    steady.evict(move_of(steady, late), late)
    executed = end(Status.EXECUTED, ORPHANED_AT)
    before = slots_of(steady)
    assert steady.commit(late, executed, entries=(), number=1) is SettleResult.LEASE_LOST
    assert slots_of(steady) == before
