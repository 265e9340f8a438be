"""The lane chaos: real processes under faults break nothing, and without a guard they do."""

import sys
from itertools import count

import pytest

from duetime.clock import SystemClock
from tests.chaos.checks import broken, unsafe
from tests.chaos.world import run

pytestmark = pytest.mark.chaos
CLOCK = SystemClock()
LONGEST, WITHOUT_A_GUARD, PATIENCE, TRIES = 60.0, 35.0, 12.0, 4
"""Seconds of faults in a run, and in one without a guard; how long that waits; and its seeds."""


@pytest.fixture
def options(request):
    """The options, by their names."""
    return request.config.getoption


def pytest_generate_tests(metafunc):
    """Run once for each guard that the command names."""
    if "guard" in metafunc.fixturenames:
        metafunc.parametrize("guard", metafunc.config.getoption("--guards", "").split())


def test_processes_that_are_killed_frozen_and_cut_off_break_nothing(options, capsys):
    begun, seconds = CLOCK.elapsed(), options("--seconds")
    for number in count():
        outcome = run(f"{options('--seed')}.{number}", min(LONGEST, seconds))
        with capsys.disabled():
            sys.stdout.write(f"\n{outcome.counts}")
        assert not broken(outcome), f"the records are in {outcome.directory}"
        if CLOCK.elapsed() - begun >= seconds:
            break


def test_a_cluster_without_a_guard_breaks(guard, options, capsys):
    found = next((flaws for number in range(TRIES) if (flaws := _flaws(guard, options, number))), [])
    assert found, f"without {guard}, nothing broke in {TRIES} runs"
    with capsys.disabled():
        sys.stdout.write(f"\nwithout {guard}: {found[0]}")


def _flaws(guard, options, number):
    seed = f"{options('--seed')}.{number}"
    return unsafe(run(seed, WITHOUT_A_GUARD, guard, patience=PATIENCE))
