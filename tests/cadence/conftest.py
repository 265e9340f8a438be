"""The profile of ``pytest tests/cadence --hypothesis-profile=thorough``: twenty times as many examples."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("thorough", max_examples=2_000)
