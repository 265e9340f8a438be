"""The route of check-ins: work elsewhere reports that it ran, and when it must report again."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Body
from aws_lambda_powertools.event_handler.request import Request
from pydantic import Field

from duetime import check_ins
from duetime.api.context import ACTIONS, place_of
from duetime.api.requests import RequestBody
from duetime.api.routes import Operation, RouteGroup, route
from duetime.api.views import ActionSummary, answer
from duetime.errors import UnknownType
from duetime.model.audit import AuditKind
from duetime.model.permissions import Permission

_REMEDY = "check-ins need app.include(duetime.check_ins) in the app"


class CheckInRequest(RequestBody):
    """When the next check-in must have come."""

    within: Annotated[
        float,
        Field(
            description="seconds in which the next check-in must come; without it, an action fails",
            strict=True,
            ge=check_ins.SHORTEST.total_seconds(),
            le=check_ins.LONGEST.total_seconds(),
            allow_inf_nan=False,
        ),
    ]


class CheckInRoutes(RouteGroup):
    """Serves check-ins, if the app includes `duetime.check_ins`."""

    tag = "actions"

    @route(
        "checkIn",
        "PUT",
        "/check-ins/<name>",
        Permission.MANAGE_ACTIONS,
        second_status=HTTPStatus.CREATED,
        operation=Operation("check-in", AuditKind.CHECK_IN, creates_work=True),
        header="Location",
    )
    def check_in(
        self, name: str, body: Annotated[CheckInRequest, Body()], request: Request
    ) -> Response[ActionSummary]:
        """Move the deadline of a name (200), or begin with its first one (201).

        The response is the action that fails without a further check-in.
        """
        self._check(json.dumps({"name": name, "within": body.within}))
        order = check_ins.order_of(check_ins.CheckIn(name=name, within=body.within))
        placed = self.api.scheduler(request).place(order)
        status = HTTPStatus.CREATED if placed.is_new else HTTPStatus.OK
        location = place_of(request, ACTIONS, placed.action.id)
        return answer(ActionSummary.of(placed.action), status, Location=location)

    def _check(self, written: str) -> None:
        """Check the payload of a check-in, and that the app includes the handler."""
        try:
            self.api.app.payload(check_ins.CheckIn.type_name, written)
        except UnknownType as error:
            raise UnknownType(error.type_name, error.known, _REMEDY) from None
