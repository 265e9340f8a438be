"""Tests of properties draw a part of their examples in the suite, and all of them in the proof."""

import pytest
from hypothesis import is_hypothesis_test, settings

SUITES_PART = 5
"""The suite draws one in so many of the proof's examples."""

_SETTINGS = "_hypothesis_internal_use_settings"
"""Where Hypothesis reads a test's settings as it runs it."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make two tests of each, of which the one with all examples is long."""
    if is_hypothesis_test(metafunc.function) and not metafunc.definition.get_closest_marker("long"):
        some = pytest.param(SUITES_PART, id="some")
        every = pytest.param(1, id="all", marks=pytest.mark.long)
        metafunc.parametrize("draws", [some, every], indirect=True)


@pytest.fixture(autouse=True)
def draws(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw the part that the test's parameter says."""
    part = getattr(request, "param", 1)
    if part > 1:
        test = getattr(request.function, "__func__", request.function)
        every: settings = getattr(test, _SETTINGS)
        some = settings(every, max_examples=max(1, every.max_examples // part))
        monkeypatch.setattr(test, _SETTINGS, some)
