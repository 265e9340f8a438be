"""The protocol of checkpoints keeps its promises in all orders; without a guard it breaks one."""

import pytest

from tests.model.checkpoint_check import (
    HAS_ADVANCED,
    IS_BOUNDED,
    NEVER_BACK,
    NO_ATTEMPT,
    NONE_IS_LOST,
    OF_ITS_RUN,
    SCENARIOS,
    STOPS,
    check_checkpoints,
)
from tests.model.checkpoint_guards import ALL_OF_CHECKPOINTS, CheckpointGuard
from tests.model.explored import exploration
from tests.model.search import broken_promises

EXPLORES = exploration(__name__)

BREAKS = {
    CheckpointGuard.PROCESSING: OF_ITS_RUN,
    CheckpointGuard.FENCE: OF_ITS_RUN,
    CheckpointGuard.OLDER: NEVER_BACK,
    CheckpointGuard.STOPS: STOPS,
    CheckpointGuard.CLAIM_AS_READ: NONE_IS_LOST,
    CheckpointGuard.CLAIM_KEEPS: NONE_IS_LOST,
    CheckpointGuard.CONTINUE_FENCE: OF_ITS_RUN,
    CheckpointGuard.CONTINUE_ADVANCED: HAS_ADVANCED,
    CheckpointGuard.CONTINUE_BOUND: IS_BOUNDED,
    CheckpointGuard.CONTINUE_NO_ATTEMPT: NO_ATTEMPT,
}
"""The promise that each guard is kept for."""


def test_each_guard_has_its_counterexample():
    assert set(BREAKS) == ALL_OF_CHECKPOINTS


@EXPLORES
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_promise_holds_in_every_order_of_events(scenario):
    checked = check_checkpoints(scenario)
    assert checked.broken is None
    assert checked.states > 500


@EXPLORES
@pytest.mark.parametrize("guard", BREAKS)
def test_the_promise_of_a_guard_is_broken_when_it_is_left_out(guard):
    assert BREAKS[guard] in broken_promises(check_checkpoints, SCENARIOS, ALL_OF_CHECKPOINTS - {guard})
