"""``parse(...)``: a cadence from its text."""

from __future__ import annotations

from duetime.cadence.cadence import Cadence
from duetime.cadence.errors import InvalidCadence
from duetime.cadence.text import read_text


def parse(text: str) -> Cadence:
    """Return the cadence of a text; a text that begins with no kind is a cron expression.

    Raises:
        InvalidCadence: the text is no cadence; a caret marks the mistake. If the text is another scheduler's
            spelling, the remedy is the same cadence in duetime's.
    """
    try:
        return read_text(text)
    except InvalidCadence as error:
        from duetime.cadence.dialects import translate_error  # noqa: PLC0415 - only needed for mistakes

        raise translate_error(error, text) from None
