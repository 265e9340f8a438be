"""Routes of approvals: approve and reject, and who may not approve what they scheduled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Body
from aws_lambda_powertools.event_handler.request import Request

from duetime.api.authenticator import Caller
from duetime.api.context import ACTIONS, ApiContext, caller_at
from duetime.api.requests import ApproveRequest, RejectRequest
from duetime.api.route_ports import Access
from duetime.api.routes import Operation, RouteGroup, route
from duetime.api.views import ActionSummary
from duetime.model.action import Action
from duetime.model.audit import AuditEntry, AuditKind, AuditTarget
from duetime.model.decision import ApproverNotAllowed, Decision
from duetime.model.permissions import Permission

_PAGE, _PAGES = 100, 10
"""How many entries of a target are read, to find who scheduled an action."""


@dataclass(frozen=True, slots=True)
class ApprovalRoutes(RouteGroup):
    """Serves those who decide about the actions of their tenant."""

    tag = "actions"

    api: ApiContext
    access: Access

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
        if is_checked := row.needs_another_approver:
            self._require_another(row, caller)
        reason = "" if body is None else body.reason
        decision = Decision(True, caller.actor, reason, is_by_another=is_checked)
        return ActionSummary.from_action(self.api.hand_overs.decide(row.ref, decision))

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
        return ActionSummary.from_action(scheduler.reject(action_id, reason=body.reason))

    def _require_another(self, row: Action, caller: Caller) -> None:
        """Raise an error unless other people alone scheduled the action.

        The row names its scheduler, but the holder of a table's write grant may write any name there. The
        audit trail has those whom this API verified. A further call with a debounce key replaces the payload,
        also by the SDK, which the trail does not have.

        Raises:
            ApproverNotAllowed: the caller scheduled it, or the trail may lack a request that did.
        """
        requests = self._requests_of(row, caller)
        if row.coalesced or all(entry.status == HTTPStatus.OK for entry in requests):
            raise ApproverNotAllowed(
                row.id, "the audit trail does not have all who made it, so it can only be rejected"
            )
        if not all(caller.is_other_than(entry.subject or "") for entry in requests):
            raise ApproverNotAllowed(row.id, f"{caller.actor} scheduled it")

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
