"""The protocol of debounce keys keeps its promises in all orders; without a guard it breaks one."""

import pytest

from tests.model.debounce_check import (
    BOUND_HOLDS,
    NEW_AFTER_BEGIN,
    NONE_IS_LOST,
    NONE_IS_TWICE,
    ONE_WAITS,
    SCENARIOS,
    check_debounce,
)
from tests.model.debounce_guards import ALL_OF_DEBOUNCE, DebounceGuard
from tests.model.explored import exploration
from tests.model.search import broken_promises

EXPLORES = exploration(__name__)

BREAKS = {
    DebounceGuard.KEY_ABSENT: ONE_WAITS,
    DebounceGuard.KEY_AS_READ: ONE_WAITS,
    DebounceGuard.NOT_BEGUN: NEW_AFTER_BEGIN,
    DebounceGuard.PENDING: NEW_AFTER_BEGIN,
    DebounceGuard.AS_READ: NONE_IS_LOST,
    DebounceGuard.RECOGNISED: NONE_IS_TWICE,
    DebounceGuard.BOUND: BOUND_HOLDS,
}
"""The promise that each guard is kept for."""


def test_each_guard_has_its_counterexample():
    assert set(BREAKS) == ALL_OF_DEBOUNCE


@EXPLORES
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_promise_holds_in_every_order_of_events(scenario):
    checked = check_debounce(scenario)
    assert checked.broken is None
    assert checked.states > 500


@EXPLORES
@pytest.mark.parametrize("guard", BREAKS)
def test_the_promise_of_a_guard_is_broken_when_it_is_left_out(guard):
    assert BREAKS[guard] in broken_promises(check_debounce, SCENARIOS, ALL_OF_DEBOUNCE - {guard})
