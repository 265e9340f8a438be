"""The part of Lambda's context that the functions use."""

from __future__ import annotations

from datetime import timedelta
from typing import Protocol


class LambdaContext(Protocol):
    """The part of Lambda's context that a function with a bound on its time uses."""

    def get_remaining_time_in_millis(self) -> int:
        """Milliseconds until Lambda ends the function."""
        ...


def time_left(context: LambdaContext) -> timedelta:
    """Return the time until Lambda ends the function."""
    return timedelta(milliseconds=context.get_remaining_time_in_millis())
