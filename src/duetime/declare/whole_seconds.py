"""Spans of a declaration in whole seconds."""

from __future__ import annotations

from datetime import timedelta

from duetime.errors import DeclarationError


def whole_seconds(field: str, value: object) -> int | None:
    """Return a span in whole seconds, None for None.

    Raises:
        DeclarationError: it is no timedelta and no number of seconds, or has a fraction of a second.
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, timedelta | int | float):
        raise DeclarationError(
            f"{field} is {value!r}; use a timedelta, such as timedelta(hours=2), or seconds"
        )
    seconds = value.total_seconds() if isinstance(value, timedelta) else float(value)
    if not seconds.is_integer():
        raise DeclarationError(f"{field} is {value!r}; use whole seconds")
    return int(seconds)
