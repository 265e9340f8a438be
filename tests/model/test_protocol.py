"""The protocol keeps its promises in every order of events, and breaks one as soon as a guard is left out."""

import pytest

from tests.model.check import SCENARIOS, check
from tests.model.explored import exploration
from tests.model.guards import ALL, Guard

EXPLORES = exploration(__name__)

SOON = 8_000
"""States: a counterexample to a guard that was left out is found long before."""

SPARE = {
    Guard.TAKE_OVER_PROCESSING: Guard.SETTLE_ENDS_LEASE,
    Guard.SETTLE_ENDS_LEASE: Guard.TAKE_OVER_PROCESSING,
    Guard.HAND_OVER_PROCESSING: Guard.HAND_OVER_ONCE,
    Guard.TAKE_OVER_FENCE: Guard.TAKE_OVER_LEASE_ENDED,
}
"""Guards that another one stands in for: alone they may be left out, not together with it."""


@EXPLORES
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda item: item.name)
def test_every_promise_holds_in_every_order_of_events(scenario):
    checked = check(scenario)
    assert checked.broken is None
    assert checked.states > 10_000


@pytest.mark.long
@pytest.mark.parametrize("guard", sorted(ALL - set(SPARE)))
def test_a_promise_is_broken_when_a_guard_is_left_out(guard):
    assert _broken_without(guard)


@pytest.mark.long
@pytest.mark.parametrize("guard", SPARE)
def test_a_redundant_guard_matters_only_without_its_counterpart(guard):
    assert check(SCENARIOS[0], ALL - {guard}).broken is None
    assert _broken_without(guard, SPARE[guard])


def _broken_without(*guards):
    searches = (check(scenario, ALL - set(guards), at_most=SOON) for scenario in SCENARIOS)
    return any(checked.broken for checked in searches)
