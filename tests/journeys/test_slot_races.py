"""Slots of concurrency keys that another process took, or still holds, while this one looked away."""

from datetime import timedelta

import pytest

from duetime.model.transition import started
from duetime.testing.contract.slots import holders, keyed, take
from duetime.testing.contract.specimens import (
    CALLER,
    MINUTE,
    NOON,
    SKEW,
    TICK,
    terms,
)
from duetime.worker.claim_results import ClaimWon, Waiting
from tests.slots import claim_of


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
