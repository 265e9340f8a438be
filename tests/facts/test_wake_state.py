"""The wakes that a job's row records: the stored text, and the rows of earlier releases."""

from __future__ import annotations

import pytest

from duetime.model.wake_state import WakeState


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("", WakeState()),
        ("?", WakeState(is_stale=True)),
        ("1 0 83591e0c2a11", WakeState(1, 0, "83591e0c2a11")),
        ("?2 1 83591e0c2a11", WakeState(2, 1, "83591e0c2a11", is_stale=True)),
    ],
)
def test_stored_text_round_trips(text, state):
    assert WakeState.parse(text) == state
    assert state.text == text


def test_stale_state_keeps_counts_and_digest():
    state = WakeState(1, 2, "83591e0c2a11").stale()
    assert state == WakeState(1, 2, "83591e0c2a11", is_stale=True)
    assert state.stale() == state
