"""Routes of handed-over actions: complete, fail, heartbeat. The token in the path is the only right."""

from __future__ import annotations

from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Body
from pydantic import Field

from duetime.api.context import ApiRoutes
from duetime.api.hand_over_bodies import BODY_LIMIT, CompleteRequest, FailRequest, HandedOverView
from duetime.api.requests import RequestBody
from duetime.api.routes import Operation, route
from duetime.api.views import Instant, View
from duetime.model.audit import AuditKind
from duetime.model.hand_over import progress_of

HAND_OVERS = "/handovers"
"""The first path segment, under the prefix."""


class HeartbeatRequest(RequestBody):
    """The progress of the work."""

    progress: Annotated[float | None, Field(description="from 0 to 1")] = None
    note: Annotated[
        str, Field(description="stored with the progress, such as `12,000 of 30,000`", max_length=200)
    ] = ""


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
