"""The protocol of concurrency keys keeps its promises in all orders; without a guard it breaks one."""

import pytest

from tests.model.explored import exploration, long_exploration
from tests.model.slots_check import (
    AT_MOST,
    LISTED,
    NEVER_STUCK,
    SLOT_SCENARIOS,
    TAIL_SCENARIOS,
    WOKEN,
    check_slots,
)
from tests.model.slots_guards import ALL_OF_SLOTS, SlotGuard

EXPLORES, EXPLORES_LONG = exploration(__name__), long_exploration(__name__)

SOON, LONG = 20_000, 350_000
"""States: the counterexamples to a guard that was left out are found before the first."""

BREAKS = {
    SlotGuard.IS_FREE: AT_MOST,
    SlotGuard.AS_MANY_HELD: WOKEN,
    SlotGuard.TOKEN: AT_MOST,
    SlotGuard.ROW_AS_READ: AT_MOST,
    SlotGuard.AFTER_SETTLE: AT_MOST,
    SlotGuard.FREE_TOKEN: AT_MOST,
    SlotGuard.ROW_DECIDES: WOKEN,
    SlotGuard.FREE_LINE: WOKEN,
    SlotGuard.HAS_ENDED: AT_MOST,
    SlotGuard.HOLDER_AS_READ: AT_MOST,
    SlotGuard.LOSES_FENCE: AT_MOST,
    SlotGuard.PENDING_LOSES_FENCE: AT_MOST,
    SlotGuard.SETTLED_IS_DEAD: NEVER_STUCK,
    SlotGuard.GONE_IS_DEAD: NEVER_STUCK,
    SlotGuard.SETTLE_FREES: WOKEN,
    SlotGuard.SETTLE_FENCE: AT_MOST,
    SlotGuard.RENEW_FENCE: AT_MOST,
}
"""The promise that each guard is kept for."""

OF_THE_TAIL = {
    SlotGuard.ENTRY_FIRST: WOKEN,
    SlotGuard.TAIL_MARKED: WOKEN,
    SlotGuard.LOOKS_AGAIN: WOKEN,
    SlotGuard.FREE_TAIL: WOKEN,
    SlotGuard.FREE_READS_TAIL: WOKEN,
    SlotGuard.HAS_TAIL: WOKEN,
    SlotGuard.READS_TAIL_AGAIN: WOKEN,
    SlotGuard.MARKS_AGAIN: WOKEN,
    SlotGuard.LEAVES_AFTER: LISTED,
    SlotGuard.HOLDERS_AS_READ: AT_MOST,
}
"""The same for guards that the scenarios of the tail need."""

BEYOND = {SlotGuard.SAME_LINE, SlotGuard.LOSES_NONCE, SlotGuard.TOKEN_GROWS} | {
    SlotGuard.NO_TAIL,
    SlotGuard.WAIT_TAIL,
    SlotGuard.APPEND_LINE,
}
"""Guards without a counterexample within these bounds; the contract of the stores tests them.

`SAME_LINE`, `NO_TAIL` and `WAIT_TAIL` keep the order of the line, which none of the promises states.
Without `TOKEN_GROWS`, 740,000 states of "one at once" break no promise.
"""


def test_each_guard_has_its_counterexample():
    assert {*BREAKS, *OF_THE_TAIL} | BEYOND == ALL_OF_SLOTS


@EXPLORES
@pytest.mark.parametrize("scenario", SLOT_SCENARIOS, ids=lambda item: item.name)
def test_every_promise_holds_in_the_first_orders_of_events(scenario):
    checked = check_slots(scenario, at_most=SOON)
    assert checked.broken is None
    assert checked.states > 1_000


@EXPLORES_LONG
@pytest.mark.parametrize("scenario", SLOT_SCENARIOS, ids=lambda item: item.name)
def test_every_promise_holds_in_many_more_orders_of_events(scenario):
    assert check_slots(scenario, at_most=LONG).broken is None


@EXPLORES
@pytest.mark.parametrize("scenario", TAIL_SCENARIOS, ids=lambda item: item.name)
def test_every_promise_holds_in_all_orders_of_events_with_a_tail(scenario):
    checked = check_slots(scenario)
    assert checked.broken is None
    assert checked.states > 4_000


@EXPLORES
@pytest.mark.parametrize("guard", OF_THE_TAIL)
def test_the_promise_of_a_guard_of_the_tail_is_broken_when_it_is_left_out(guard):
    broken = (check_slots(scenario, ALL_OF_SLOTS - {guard}).broken for scenario in TAIL_SCENARIOS)
    assert next(filter(None, broken)).promise == OF_THE_TAIL[guard]


@pytest.mark.long
@pytest.mark.parametrize("guard", BREAKS)
def test_the_promise_of_a_guard_is_broken_when_it_is_left_out(guard):
    assert BREAKS[guard] in _broken_without(guard)


def _broken_without(guard):
    for scenario in SLOT_SCENARIOS:
        checked = check_slots(scenario, ALL_OF_SLOTS - {guard}, at_most=SOON)
        if checked.broken:
            yield checked.broken.promise
