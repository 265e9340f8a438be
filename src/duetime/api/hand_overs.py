"""Routes of handed-over actions: complete, fail, heartbeat. The token in the path is the only right."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any

from aws_lambda_powertools.event_handler.openapi.params import Body
from pydantic import Field

from duetime.api.context import ApiRoutes
from duetime.api.requests import RequestBody
from duetime.api.routes import Operation, route
from duetime.api.views import Instant, View
from duetime.model.action import Status
from duetime.model.audit import AuditKind
from duetime.model.hand_over import progress_of

HAND_OVERS = "/handovers"
"""The first path segment, under the prefix."""

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


class HeartbeatRequest(RequestBody):
    """The progress of the work."""

    progress: Annotated[float | None, Field(description="from 0 to 1")] = None
    note: Annotated[
        str, Field(description="stored with the progress, such as `12,000 of 30,000`", max_length=200)
    ] = ""


class HandedOverView(View):
    """An action after its hand-over has ended."""

    id: str
    """Its id."""
    status: Status
    """Executed, failed or cancelled; or pending, if another attempt follows."""


class BeatView(View):
    """The answer to a heartbeat."""

    cancel_requested: bool
    """Whether the work should stop, and then be failed."""
    waits_until: Instant
    """When the next heartbeat must have come, or the time-out."""


class HandOverRoutes(ApiRoutes):
    """Serves the holders of tokens."""

    tag = "hand-overs"

    @route(
        "completeHandOver",
        "POST",
        f"{HAND_OVERS}/<token>/complete",
        is_open=True,
        is_by_token=True,
        body_limit=BODY_LIMIT,
        operation=Operation("complete", AuditKind.ACTION),
    )
    def complete(self, token: str, body: Annotated[CompleteRequest | None, Body()] = None) -> HandedOverView:
        """Execute a handed-over action, once; a second call changes nothing (409)."""
        result = None if body is None else body.result
        return HandedOverView.model_validate(self.api.hand_overs.complete(token, result))

    @route(
        "failHandOver",
        "POST",
        f"{HAND_OVERS}/<token>/fail",
        is_open=True,
        is_by_token=True,
        body_limit=BODY_LIMIT,
        operation=Operation("fail", AuditKind.ACTION),
    )
    def fail(self, token: str, body: Annotated[FailRequest, Body()]) -> HandedOverView:
        """End the attempt of a handed-over action as failed; after a request to cancel, as cancelled."""
        return HandedOverView.model_validate(self.api.hand_overs.fail(token, body.reason, body.retries()))

    @route(
        "heartbeatHandOver",
        "POST",
        f"{HAND_OVERS}/<token>/heartbeat",
        is_open=True,
        is_by_token=True,
        body_limit=BODY_LIMIT,
    )
    def heartbeat(self, token: str, body: Annotated[HeartbeatRequest | None, Body()] = None) -> BeatView:
        """Keep a handed-over action alive, and store its progress."""
        progress = None if body is None else progress_of(body.progress, body.note)
        return BeatView.model_validate(self.api.hand_overs.heartbeat(token, progress))


def _bounded(seconds: float) -> float:
    """Return seconds that a timedelta can hold; `fail` refuses what is out of its range."""
    return min(max(seconds, -1.0), 1e9)
