"""The protocol of batches keeps its promises in all orders; without a guard it breaks one."""

import pytest

from tests.model.batch_check import (
    ALL_HAVE_ENDED,
    COMPLETES,
    EXACT,
    NONE_IS_ADDED,
    NONE_IS_LOST,
    NONE_IS_RESET,
    REDRIVES_COUNT,
    RELEASED_ONCE,
    SCENARIOS,
    check_batch,
)
from tests.model.batch_guards import ALL_OF_BATCHES, BatchGuard
from tests.model.explored import exploration

EXPLORES = exploration(__name__)

SOON = 20_000
"""States: a counterexample to a guard that was left out is found before."""

FILLED, REDRIVEN, CANCELLED, REMOVED, OPEN = (
    "a batch is filled while it is counted",
    "both members are redriven",
    "the completion action is cancelled",
    "rows are removed",
    "an open batch is redriven",
)
BREAKS = {
    BatchGuard.ADD_OPEN: (FILLED, NONE_IS_ADDED),
    BatchGuard.ADD_AS_READ: (FILLED, NONE_IS_ADDED),
    BatchGuard.SIZE_FIRST: (FILLED, NONE_IS_LOST),
    BatchGuard.ROW_IS_ABSENT: (FILLED, NONE_IS_RESET),
    BatchGuard.CLOSE_AS_READ: (FILLED, NONE_IS_LOST),
    BatchGuard.COUNT_AS_READ: (FILLED, NONE_IS_ADDED),
    BatchGuard.COUNT_CLOSED: (FILLED, ALL_HAVE_ENDED),
    BatchGuard.COUNT_ALL_FINAL: (FILLED, ALL_HAVE_ENDED),
    BatchGuard.COUNT_MISSING: (FILLED, EXACT),
    BatchGuard.COUNT_KEPT: (REMOVED, EXACT),
    BatchGuard.COUNT_REDRIVEN: (REDRIVEN, EXACT),
    BatchGuard.REDRIVE_BEFORE: (REDRIVEN, EXACT),
    BatchGuard.REDRIVE_AFTER: (REDRIVEN, REDRIVES_COUNT),
    BatchGuard.REDRIVE_AS_READ: (OPEN, NONE_IS_ADDED),
    BatchGuard.REDRIVE_IN_DUE_INDEX: (REDRIVEN, COMPLETES),
    BatchGuard.ONCE_MORE: (REDRIVEN, EXACT),
    BatchGuard.RELEASE_COMPLETE: (FILLED, ALL_HAVE_ENDED),
    BatchGuard.RELEASE_PENDING: (CANCELLED, RELEASED_ONCE),
    BatchGuard.RELEASE_AS_READ: (CANCELLED, RELEASED_ONCE),
}
"""The scenario, and the promise that each guard is kept for."""


def test_each_guard_has_its_counterexample():
    assert set(BREAKS) == ALL_OF_BATCHES


@EXPLORES
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_promise_holds_in_every_order_of_events(scenario):
    checked = check_batch(scenario)
    assert checked.broken is None
    assert checked.states > 2_000


@EXPLORES
@pytest.mark.parametrize("guard", BREAKS)
def test_the_promise_of_a_guard_is_broken_when_it_is_left_out(guard):
    scenario, promise = BREAKS[guard]
    checked = check_batch(scenario, ALL_OF_BATCHES - {guard}, at_most=SOON)
    assert checked.broken is not None
    assert checked.broken.promise == promise
