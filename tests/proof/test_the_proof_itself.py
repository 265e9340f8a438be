"""A proof that nothing could fail proves nothing: without a guard of the protocol, some world breaks an invariant."""

import pytest

from duetime.testing import InvariantBroken
from tests.proof.mutations import OFTEN, SELDOM
from tests.proof.world import prove


@pytest.mark.parametrize("guard", OFTEN)
def test_a_scheduler_without_a_guard_fails_soon(guard):
    with OFTEN[guard](), pytest.raises(InvariantBroken):
        prove_all(40)


@pytest.mark.long
@pytest.mark.parametrize("guard", SELDOM)
def test_a_scheduler_without_a_guard_that_is_seldom_needed_fails_as_well(guard):
    with SELDOM[guard](), pytest.raises(InvariantBroken):
        prove_all(20_000)


def prove_all(seeds):
    for seed in range(seeds):
        prove(seed)
