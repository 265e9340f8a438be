"""The profile of ``pytest tests/cadence --hypothesis-profile=thorough``: twenty times as many examples."""

from __future__ import annotations

from hypothesis import settings

from tests.draws import draws, pytest_generate_tests  # noqa: F401 - of the tests here

settings.register_profile("thorough", max_examples=2_000)
