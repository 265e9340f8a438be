"""Routes that end a handed-over action by its id: for people, who have a permission and no token."""

from __future__ import annotations

from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Body
from aws_lambda_powertools.event_handler.request import Request

from duetime.api.context import ACTIONS, ApiRoutes
from duetime.api.hand_overs import BODY_LIMIT, CompleteRequest, FailRequest, HandedOverView
from duetime.api.preconditions import compare, etag_of_action, expected_etags
from duetime.api.routes import Operation, route
from duetime.model.action import Status
from duetime.model.audit import AuditKind
from duetime.model.hand_over import HandOverEnded, NotHandedOver
from duetime.model.hand_over_token import token_of
from duetime.model.permissions import Permission

_MANAGE = Permission.MANAGE_ACTIONS


class EndHandOverRoutes(ApiRoutes):
    """Ends the hand-overs of the caller's tenant.

    The row that is compared with ``If-Match`` yields the token of its run. So the write has the condition of
    a token: it ends that very run's hand-over, or changes nothing.
    """

    tag = "actions"

    @route(
        "completeAction",
        "POST",
        f"{ACTIONS}/<action_id>/complete",
        _MANAGE,
        body_limit=BODY_LIMIT,
        operation=Operation("complete", AuditKind.ACTION),
    )
    def complete(
        self, action_id: str, request: Request, body: Annotated[CompleteRequest | None, Body()] = None
    ) -> HandedOverView:
        """Execute a handed-over action in place of the token's holder, whose later calls change nothing."""
        token = self._token(request, action_id)
        result = None if body is None else body.result
        return HandedOverView.model_validate(self.api.hand_overs.complete(token, result))

    @route(
        "failAction",
        "POST",
        f"{ACTIONS}/<action_id>/fail",
        _MANAGE,
        body_limit=BODY_LIMIT,
        operation=Operation("fail", AuditKind.ACTION),
    )
    def fail(self, action_id: str, body: Annotated[FailRequest, Body()], request: Request) -> HandedOverView:
        """End the attempt of a handed-over action as failed; after a request to cancel, as cancelled."""
        token = self._token(request, action_id)
        return HandedOverView.model_validate(self.api.hand_overs.fail(token, body.reason, body.retries()))

    def _token(self, request: Request, action_id: str) -> str:
        """Return the token of the run that has handed the action over.

        Raises:
            ActionNotFound: the caller's tenant has no such action.
            PreconditionFailed: it is not as the client has read it.
            NotHandedOver: its run has not handed it over.
            HandOverEnded: no run of it goes on.
        """
        row = self.api.scheduler(request).get(action_id)
        compare(expected_etags(request), etag_of_action(row))
        if row.is_handed_over:
            return token_of(row)
        if row.status is Status.PROCESSING:
            raise NotHandedOver(row.id)
        raise HandOverEnded(row.id, row.status, "none of its runs is handed over")
