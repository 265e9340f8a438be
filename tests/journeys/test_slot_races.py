"""Slots of concurrency keys that another process took, or still holds, while this one looked away."""

from dataclasses import replace
from datetime import timedelta

import pytest

from duetime.model.action import Status
from duetime.model.slots import KeySlots
from duetime.model.transition import started
from duetime.testing.contract.slots import KEY, holders, keyed, slots_of, take
from duetime.testing.contract.specimens import (
    ACME,
    CALLER,
    MINUTE,
    NOON,
    ORPHANED_AT,
    SECOND,
    SKEW,
    TICK,
    end,
    stored_row,
    terms,
)
from duetime.testing.turned_clock import TurnedClock
from duetime.worker.claim_results import ClaimWon, Waiting
from duetime.worker.pass_slots import PassSlots
from tests.hooked import Hooked
from tests.slots import NoQueues, claim_of


def test_a_run_whose_slot_a_take_over_has_renewed_with_its_fence_does_not_begin(store):
    """The claim's response came after the end of the lease; by then, another worker took its slot."""
    action, hooked = keyed(store), Hooked(store)

    def answered_late(claim_row, row, claimed):
        assert claim_row(row, claimed)
        assert store.take_slot(stored_row(store, row.ref), slots_of(store), ORPHANED_AT)
        assert slots_of(store).holders == {row.id: claimed.fence}
        return True

    hooked.hooks["claim_row"] = answered_late
    assert claim_of(hooked).with_slot(action, terms()) is None
    row = stored_row(store, action.ref)
    assert (row.status, row.lease_until) == (Status.PENDING, None)


def test_a_run_frees_no_slot_of_its_retry_which_0_1_0_took_again_without_a_token(store):
    action, queues = keyed(store), NoQueues()
    begun = KeySlots(ACME, KEY, {action.id: None}, (), NOON)
    run = started(action, terms())
    assert store.claim_row(action, run)
    store.slots.by_key[ACME, KEY] = begun
    store.settle(run, replace(end(Status.PENDING), due_at=NOON))
    retried = stored_row(store, action.ref)
    store.slots.by_key[ACME, KEY] = replace(begun, taken_at=NOON + SECOND)
    assert store.claim_row(retried, started(retried, terms(NOON + SECOND)))
    passing = PassSlots(store, queues, queues, clock=TurnedClock(NOON + 2 * SECOND), skew=timedelta(0))
    passing.free(run, begun, Status.PENDING)
    assert stored_row(store, action.ref).status is Status.PROCESSING
    assert holders(store) == {action.id}


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
    assert store.claim_row(holder, started(holder, terms(now)))
    assert isinstance(claim_of(store, now=now).with_slot(other, terms(now)), Waiting)
    assert holders(store) == {holder.id}
