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
def test_a_stored_text_is_read_and_written_unchanged(text, state):
    assert WakeState.parse(text) == state
    assert state.text == text


def test_a_stale_state_retains_what_is_set_on_eventbridge():
    state = WakeState(1, 2, "83591e0c2a11").stale()
    assert state == WakeState(1, 2, "83591e0c2a11", is_stale=True)
    assert state.stale() == state
