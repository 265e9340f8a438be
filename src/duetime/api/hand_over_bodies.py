"""Bodies of requests that end hand-overs: by a token, or by the id of an action."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any

from pydantic import Field

from duetime.api.requests import RequestBody
from duetime.api.views import View
from duetime.model.action import Status

BODY_LIMIT = 16 * 1_024
"""Bytes: a result of 2 KB, with escapes."""


class CompleteRequest(RequestBody):
    """The end of the work."""

    result: Annotated[Any, Field(description="stored with the action, at most 2 KB as JSON")] = None


class FailRequest(RequestBody):
    """The failure of the work."""

    reason: Annotated[str, Field(description="stored with the attempt", min_length=1, max_length=500)]
    retry: Annotated[
        bool | float,
        Field(description="true: by the retry policy; false: never; or the seconds until the next attempt"),
    ] = True

    def retries(self) -> bool | timedelta:
        """Return whether another attempt follows, or after which time."""
        return self.retry if isinstance(self.retry, bool) else timedelta(seconds=_bounded(self.retry))


class HandedOverView(View):
    """An action after its hand-over has ended."""

    id: str
    """Its id."""
    status: Status
    """Executed, failed or cancelled; or pending, if another attempt follows."""


def _bounded(seconds: float) -> float:
    """Return seconds that a timedelta can hold; `fail` refuses what is out of its range."""
    return min(max(seconds, -1.0), 1e9)
