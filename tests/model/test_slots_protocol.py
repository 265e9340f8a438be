"""The protocol of concurrency keys keeps its promises in all orders; without a guard it breaks one."""

import pytest

from tests.model.slots_check import AT_MOST, NEVER_STUCK, SLOT_SCENARIOS, check_slots
from tests.model.slots_guards import ALL_OF_SLOTS, SlotGuard

SOON = 20_000
"""States: a counterexample to a guard that was left out is found before."""

BREAKS = {
    SlotGuard.ROW_AS_READ: AT_MOST,
    SlotGuard.IS_FREE: AT_MOST,
    SlotGuard.WITH_THE_ROW: AT_MOST,
    SlotGuard.HAS_ENDED: AT_MOST,
    SlotGuard.HOLDER_AS_READ: AT_MOST,
    SlotGuard.LOSES_FENCE: AT_MOST,
    SlotGuard.LOSES_NONCE: AT_MOST,
    SlotGuard.SETTLE_FENCE: AT_MOST,
    SlotGuard.RENEW_FENCE: AT_MOST,
    SlotGuard.SETTLED_IS_DEAD: NEVER_STUCK,
    SlotGuard.GONE_IS_DEAD: NEVER_STUCK,
}
"""The promise that each guard is kept for."""

SPARE = {SlotGuard.SETTLE_FREES: SlotGuard.SETTLED_IS_DEAD}
"""A guard that another one stands in for: alone it may be left out, not together with it."""


def test_each_guard_has_its_counterexample():
    assert {*BREAKS, *SPARE} == ALL_OF_SLOTS


@pytest.mark.parametrize("scenario", SLOT_SCENARIOS, ids=lambda item: item.name)
def test_every_promise_holds_in_every_order_of_events(scenario):
    checked = check_slots(scenario)
    assert checked.broken is None
    assert checked.states > 1_000


@pytest.mark.parametrize("guard", BREAKS)
def test_the_promise_of_a_guard_is_broken_when_it_is_left_out(guard):
    assert BREAKS[guard] in _broken_without(guard)


@pytest.mark.parametrize("guard", SPARE)
def test_a_redundant_guard_matters_only_without_its_counterpart(guard):
    assert not any(_broken_without(guard))
    assert NEVER_STUCK in _broken_without(guard, SPARE[guard])


def _broken_without(*guards):
    for scenario in SLOT_SCENARIOS:
        checked = check_slots(scenario, ALL_OF_SLOTS - set(guards), at_most=SOON)
        if checked.broken:
            yield checked.broken.promise
