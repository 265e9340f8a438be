"""A proof that nothing could fail proves nothing.

Without a guard of the protocol, some world breaks an invariant.
"""

from contextlib import nullcontext

import pytest

from tests.proof.__main__ import tell
from tests.proof.mutations import BEGIN, OFTEN, SELDOM
from tests.proof.world import first_broken, prove


@pytest.mark.parametrize("guard", OFTEN)
def test_a_scheduler_without_a_guard_fails_soon(guard):
    with OFTEN[guard]():
        assert first_broken(range(1_000)) is not None


@pytest.mark.parametrize("guard", SELDOM)
def test_a_guard_that_is_seldom_needed_is_there_to_be_removed(guard):
    with SELDOM[guard]():
        prove(0)


@pytest.mark.long
@pytest.mark.parametrize("guard", SELDOM)
def test_a_scheduler_without_a_guard_that_is_seldom_needed_fails_as_well(guard):
    begin = BEGIN.get(guard, 0)
    with SELDOM[guard]():
        assert first_broken(range(begin, begin + 20_000)) is not None


def test_the_command_tells_which_world_fails_without_a_guard_and_how(capsys):
    guard = "1: no two runs of a job hold its lock"
    assert tell(guard, OFTEN[guard], seeds=100)
    output = capsys.readouterr().out
    assert output.startswith(guard)
    assert "(invariant 1)" in output


def test_a_scheduler_that_lacks_nothing_fails_in_no_world(capsys):
    assert not tell("a guard that is there", nullcontext, seeds=1)
    assert capsys.readouterr().out.endswith("-  nothing\n")
