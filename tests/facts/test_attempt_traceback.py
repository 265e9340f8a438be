"""The stored traceback of an attempt, at its bounds."""

from datetime import UTC, datetime

import pytest

from duetime.model.attempt_traceback import LARGEST, AttemptTraceback

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize("length", [65_536, 65_537, 200_000])
@pytest.mark.parametrize("before", ["", "a", "ab", "abc"])
def test_a_long_text_of_characters_of_four_bytes_can_be_read(length, before):
    stored = AttemptTraceback(AT, before + "\N{GRINNING FACE}" * length).to_bytes()
    assert len(stored) <= LARGEST
    read = AttemptTraceback.from_bytes(AT, stored).text
    assert read.startswith(before + "\N{GRINNING FACE}")
    assert read.endswith("\N{GRINNING FACE}")
