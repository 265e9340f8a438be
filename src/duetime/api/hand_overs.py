"""Routes of handed-over actions: complete, fail, heartbeat, approve, reject.

For the holder of its token, the token in the path is the only right; others name the action.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from http import HTTPStatus
from typing import Annotated, Any

from aws_lambda_powertools.event_handler.openapi.params import Body
from aws_lambda_powertools.event_handler.request import Request
from pydantic import Field

from duetime.api.authenticator import Caller
from duetime.api.context import ACTIONS, ApiContext, caller_at
from duetime.api.preconditions import compare, etag_of_action, expected_etags
from duetime.api.requests import RequestBody
from duetime.api.routes import Operation, RouteGroup, route
from duetime.api.views import ActionSummary, View, shows
from duetime.errors import HandOverEnded
from duetime.model.action import Action, Status
from duetime.model.audit import AuditEntry, AuditKind, AuditTarget
from duetime.model.debounce import calls_taken
from duetime.model.decision import Decision, approver_not_allowed
from duetime.model.hand_over import Beat, not_handed_over, progress_of
from duetime.model.hand_over_token import token_of
from duetime.model.permissions import Permission

BODY_LIMIT = 16 * 1_024
"""Bytes: a result of 2 KB, with escapes."""
_PAGE, _PAGES = 100, 10
"""How many entries of a target are read, to find who scheduled an action."""


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
        """Return whether another attempt follows, or after which time, which `fail` bounds more narrowly."""
        return (
            self.retry if isinstance(self.retry, bool) else timedelta(seconds=min(max(self.retry, -1.0), 1e9))
        )


class ApproveRequest(RequestBody):
    """The approval of an action that waits for it."""

    reason: Annotated[
        str, Field(description="in the action's history, its result and the trail", max_length=500)
    ] = ""


class RejectRequest(RequestBody):
    """The rejection of an action that waits for an approval."""

    reason: Annotated[
        str, Field(description="in the action's history and the trail", min_length=1, max_length=500)
    ]


@shows(Action, "id status")
class HandedOverView(View):
    """An action after its hand-over has ended."""


class HeartbeatRequest(RequestBody):
    """The progress of the work."""

    progress: Annotated[float | None, Field(description="from 0 to 1")] = None
    note: Annotated[
        str, Field(description="stored with the progress, such as `12,000 of 30,000`", max_length=200)
    ] = ""


@shows(Beat, "cancel_requested waits_until")
class BeatView(View):
    """The answer to a heartbeat."""


class HandOverRoutes(RouteGroup):
    """Serves the holders of tokens."""

    tag = "hand-overs"

    @route(
        "completeHandOver",
        "POST",
        "/handovers/<token>/complete",
        is_open=True,
        is_by_token=True,
        body_limit=BODY_LIMIT,
        operation=Operation("complete", AuditKind.ACTION),
    )
    def complete(self, token: str, body: Annotated[CompleteRequest | None, Body()] = None) -> HandedOverView:
        """Execute a handed-over action, once; a second call changes nothing (409)."""
        return _complete(self.api, token, body)

    @route(
        "failHandOver",
        "POST",
        "/handovers/<token>/fail",
        is_open=True,
        is_by_token=True,
        body_limit=BODY_LIMIT,
        operation=Operation("fail", AuditKind.ACTION),
    )
    def fail(self, token: str, body: Annotated[FailRequest, Body()]) -> HandedOverView:
        """End the attempt of a handed-over action as failed; after a request to cancel, as cancelled."""
        return _fail(self.api, token, body)

    @route(
        "heartbeatHandOver",
        "POST",
        "/handovers/<token>/heartbeat",
        is_open=True,
        is_by_token=True,
        body_limit=BODY_LIMIT,
    )
    def heartbeat(self, token: str, body: Annotated[HeartbeatRequest | None, Body()] = None) -> BeatView:
        """Keep a handed-over action alive, and store its progress."""
        progress = None if body is None else progress_of(body.progress, body.note)
        return BeatView.of(self.api.hand_overs.heartbeat(token, progress))


class DecisionRoutes(RouteGroup):
    """Serves people, who name an action of their tenant: they end its hand-over, or decide about it."""

    tag = "actions"

    @route(
        "completeAction",
        "POST",
        f"{ACTIONS}/<action_id>/complete",
        Permission.MANAGE_ACTIONS,
        body_limit=BODY_LIMIT,
        operation=Operation("complete", AuditKind.ACTION),
    )
    def complete(
        self, action_id: str, request: Request, body: Annotated[CompleteRequest | None, Body()] = None
    ) -> HandedOverView:
        """Execute a handed-over action in place of the token's holder, whose later calls change nothing."""
        return _complete(self.api, self._token(request, action_id), body)

    @route(
        "failAction",
        "POST",
        f"{ACTIONS}/<action_id>/fail",
        Permission.MANAGE_ACTIONS,
        body_limit=BODY_LIMIT,
        operation=Operation("fail", AuditKind.ACTION),
    )
    def fail(self, action_id: str, body: Annotated[FailRequest, Body()], request: Request) -> HandedOverView:
        """End the attempt of a handed-over action as failed; after a request to cancel, as cancelled."""
        return _fail(self.api, self._token(request, action_id), body)

    def _token(self, request: Request, action_id: str) -> str:
        """Return the token of the run that has handed an action over.

        The row that is compared with ``If-Match`` yields it. So the write has the condition of a token: it
        ends that very run's hand-over, or changes nothing.

        Raises:
            NotFound: the caller's tenant has no such action.
            RequestError: it is not as the client has read it.
            StateConflict: its run has not handed it over.
            HandOverEnded: no run of it goes on.
        """
        row = self.api.scheduler(request).get(action_id)
        compare(expected_etags(request), etag_of_action(row))
        if row.is_handed_over:
            return token_of(row)
        if row.status is Status.PROCESSING:
            raise not_handed_over(row.id)
        raise HandOverEnded(row.id, row.status, "none of its runs is handed over")

    @route(
        "approveAction",
        "POST",
        f"{ACTIONS}/<action_id>/approve",
        Permission.APPROVE_ACTIONS,
        operation=Operation("approve", AuditKind.ACTION),
    )
    def approve(
        self, action_id: str, request: Request, body: Annotated[ApproveRequest | None, Body()] = None
    ) -> ActionSummary:
        """Approve an action that waits for an approval, once; a second decision changes nothing (409)."""
        row, caller = self.api.scheduler_for(request, action_id).get(action_id), caller_at(request)
        is_checked = row.hand_over is not None and row.hand_over.needs_another_approver
        if is_checked:
            self._require_another(row, caller)
        reason = "" if body is None else body.reason
        decision = Decision(True, caller.actor, reason, is_by_another=is_checked)
        return ActionSummary.of(self.api.hand_overs.decide(row.ref, decision))

    @route(
        "rejectAction",
        "POST",
        f"{ACTIONS}/<action_id>/reject",
        Permission.APPROVE_ACTIONS,
        operation=Operation("reject", AuditKind.ACTION),
    )
    def reject(
        self, action_id: str, body: Annotated[RejectRequest, Body()], request: Request
    ) -> ActionSummary:
        """Reject an action that waits for an approval, once; a second decision changes nothing (409)."""
        scheduler = self.api.scheduler_for(request, action_id)
        return ActionSummary.of(scheduler.reject(action_id, reason=body.reason))

    def _require_another(self, row: Action, caller: Caller) -> None:
        """Raise an error unless other people alone scheduled the action.

        The row names its scheduler, but the holder of a table's write grant may write any name there. The
        audit trail has those whom this API verified. A further call with a debounce key replaces the payload,
        also by the SDK, which the trail does not have.

        Raises:
            Forbidden: the caller scheduled it, or the trail may lack a request that did.
        """
        requests = self._requests_of(row, caller)
        if calls_taken(row) or all(entry.status == HTTPStatus.OK for entry in requests):
            raise approver_not_allowed(
                row.id, "the audit trail does not have all who made it, so it can only be rejected"
            )
        if not all(caller.is_other_than(entry.subject or "") for entry in requests):
            raise approver_not_allowed(row.id, f"{caller.actor} scheduled it")

    def _requests_of(self, row: Action, caller: Caller) -> Sequence[AuditEntry]:
        """Return the requests of the caller's tenant that made a row: to schedule it, or to trigger a job.

        Those that repeat the call of an idempotency key (200) are among them. There are none if the trail has
        more entries of the target than are read: the missing ones may be of the caller.
        """
        target = AuditTarget(AuditKind.JOB, row.job) if row.job else AuditTarget(AuditKind.ACTION, row.id)
        cursor, entries = None, list[AuditEntry]()
        for _ in range(_PAGES):
            page = self.access.trail.list(caller.tenant_id, target, limit=_PAGE, cursor=cursor)
            entries += page
            if (cursor := page.cursor) is None:
                return [entry for entry in entries if _has_made(entry, row)]
        return []


def _has_made(entry: AuditEntry, row: Action) -> bool:
    is_done = entry.status is not None and entry.status < HTTPStatus.BAD_REQUEST
    return is_done and entry.operation in {"schedule", "trigger"} and (entry.result or {}).get("id") == row.id


def _complete(api: ApiContext, token: str, body: CompleteRequest | None) -> HandedOverView:
    return HandedOverView.of(api.hand_overs.complete(token, None if body is None else body.result))


def _fail(api: ApiContext, token: str, body: FailRequest) -> HandedOverView:
    return HandedOverView.of(api.hand_overs.fail(token, body.reason, body.retries()))
