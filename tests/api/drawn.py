"""Properties that hold for many drawn examples: for a part of them in the suite, for all in the proof."""

import pytest
from hypothesis import HealthCheck, given, settings

SUITES_PART = 4
"""The suite draws one in so many of the proof's examples."""


def in_both_lanes(examples):
    """Give a test the number of examples to draw: a part of them in the suite, all in the proof."""
    some = pytest.param(examples // SUITES_PART, id="some")
    return pytest.mark.parametrize("number", [some, pytest.param(examples, id="all", marks=pytest.mark.long)])


def holds_for(*strategies, examples):
    """Make a test that draws so many examples of the strategies in the proof, and a part in the suite."""

    def decorate(check):
        @in_both_lanes(examples)
        def test(number):
            drawing(number)(given(*strategies)(check))()

        test.__name__, test.__qualname__, test.__module__ = (
            check.__name__,
            check.__qualname__,
            check.__module__,
        )
        return test

    return decorate


def drawing(number):
    """Return the settings of so many examples, which are the same in each run."""
    return settings(
        max_examples=number, derandomize=True, suppress_health_check=list(HealthCheck), database=None
    )
