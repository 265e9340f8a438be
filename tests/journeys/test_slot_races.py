"""Slots of concurrency keys that another process took, or still holds, while this one looked away."""

from datetime import timedelta

import pytest

from duetime.model.action import Status
from duetime.model.lease import Claimed
from duetime.worker.claim_results import ClaimWon, Waiting
from duetime.worker.pass_slots import PassSlots
from duetime_contract.specimens import (
    CALLER,
    MINUTE,
    NOON,
    ORPHANED_AT,
    SKEW,
    TICK,
    end,
    stored_row,
    terms,
)
from tests.backends import backends
from tests.contract.rules.slots import holders, holding, keyed, move_of, slots_of, take
from tests.hooked import Hooked
from tests.slots import NoQueues, claim_of


def test_a_claim_whose_slot_was_evicted_after_its_take_begins_no_run(store):
    action, other, hooked = keyed(store), keyed(store), Hooked(store)

    def evicted(claim, row, claim_terms):
        del hooked.hooks["claim"]
        assert store.evict(move_of(store, row), row)
        assert take(store, other)
        return claim(row, claim_terms)

    hooked.hooks["claim"] = evicted
    assert isinstance(claim_of(hooked).with_slot(action, terms()), Waiting)
    assert stored_row(store, action.ref).status is Status.PENDING
    assert (holders(store), slots_of(store).waiting) == ({other.id}, (action.id,))


@pytest.mark.parametrize("status", [Status.EXECUTED, Status.PENDING])
def test_a_slot_whose_token_a_lost_take_over_has_renewed_is_freed_all_the_same(store, status):
    """A worker saw the lease end, and took the slot again; then the run renewed its lease, and has ended."""
    run, other, queues = holding(store), keyed(store), NoQueues()
    assert store.take_slot(run, slots_of(store), ORPHANED_AT)
    assert slots_of(store).holders == {run.id: run.fence}
    assert store.wait_for_slot(other, slots_of(store))
    store.settle(run, end(status))
    PassSlots(backends(store, sends=queues)).free(run, 0)
    assert slots_of(store).holders == {other.id: other.fence}
    assert [send.message.ref for send in queues.sent] == [other.ref]


@pytest.mark.parametrize(
    ("later", "evicts"), [(SKEW, False), (SKEW + TICK, True)], ids=["within the skew", "beyond the skew"]
)
def test_a_holder_that_was_moved_to_a_later_time_loses_its_slot_at_once(store, later, evicts):
    holder, other = keyed(store), keyed(store)
    assert take(store, holder)
    store.reschedule(holder, NOON + later, by=CALLER, at=NOON, expires_at=None)
    result = claim_of(store).with_slot(other, terms())
    assert isinstance(result, ClaimWon if evicts else Waiting)
    assert holders(store) == {other.id if evicts else holder.id}


@pytest.mark.parametrize("late", [timedelta(0), TICK], ids=["it may still begin", "it never began"])
def test_a_holder_that_does_not_begin_for_as_long_as_a_lease_loses_its_slot(store, late):
    holder, other = keyed(store), keyed(store)
    assert take(store, holder)
    now = NOON + terms().length + SKEW + late
    result = claim_of(store, now=now).with_slot(other, terms(now))
    assert isinstance(result, ClaimWon if late else Waiting)
    assert holders(store) == {other.id if late else holder.id}


def test_a_holder_whose_lease_lives_keeps_its_slot_for_any_time(store):
    holder, other = keyed(store), keyed(store)
    assert take(store, holder)
    now = NOON + 30 * MINUTE
    assert isinstance(store.claim(holder, terms(now)), Claimed)
    assert isinstance(claim_of(store, now=now).with_slot(other, terms(now)), Waiting)
    assert holders(store) == {holder.id}
