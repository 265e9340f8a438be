"""Routes of actions: schedule, look up, cancel, reschedule, redrive. Each calls the `Scheduler` once."""

from __future__ import annotations

import json
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Body, Header, Query
from aws_lambda_powertools.event_handler.request import Request

from duetime.api.context import SCHEDULING, ApiContext, place_of
from duetime.api.filters import ActionQuery, page_view
from duetime.api.preconditions import etag_of_action
from duetime.api.redactor import reader_at
from duetime.api.requests import DueRequest, RedriveBody, ScheduleRequest
from duetime.api.routes import Operation, RouteGroup, route
from duetime.api.views import ActionPage, ActionSummary, ActionView
from duetime.model.action import Status
from duetime.model.audit import AuditKind
from duetime.model.permissions import Permission

_READ, _MANAGE = Permission.READ_ACTIONS, Permission.MANAGE_ACTIONS
_DONE, _MADE, _ASKED = HTTPStatus.OK, HTTPStatus.CREATED, HTTPStatus.ACCEPTED
_JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Scheduling(RouteGroup):
    """Serves the actions of the caller's tenant, and the runs of the jobs that the caller sees."""

    tag = "actions"

    api: ApiContext

    @route(
        "scheduleAction",
        "POST",
        SCHEDULING,
        _MANAGE,
        status=_MADE,
        second_status=_DONE,
        operation=Operation("schedule", AuditKind.ACTION, is_new=True),
        header="Location",
    )
    def schedule(
        self,
        body: Annotated[ScheduleRequest, Body()],
        request: Request,
        idempotency_key: Annotated[str | None, Header(alias="Idempotency-Key")] = None,
    ) -> Response[ActionView]:
        """Schedule an action (201), or return the first one of its idempotency key (200).

        Its type is looked up among the registered ones and never imported.
        """
        order = body.order(self.api.app.payload(body.type, json.dumps(body.payload)), idempotency_key)
        placed = self.api.scheduler(request).place(order)
        status = _MADE if placed.is_new else _DONE
        location = {"Location": place_of(request, SCHEDULING, placed.action.id)}
        view = ActionView.in_full(placed.action, reader_at(self.api, request).of_action(placed.action))
        return Response(status, _JSON, view, headers=location)

    @route("listActions", "GET", f"{SCHEDULING}/query", _READ)
    def query(self, query: Annotated[ActionQuery, Query()], request: Request) -> ActionPage:
        """Return a page of the actions that match all filters, newest first; by correlation id oldest first.

        Failed ones come by their failure; those of a due range soonest first, where the deployment has
        `due_order`. It
        may be shorter than `limit`, or empty, while `next_cursor` leads on to more.
        """
        scheduler = self.api.scheduler(request)
        return page_view(scheduler.list(limit=query.limit, cursor=query.cursor, **query.filters()))

    @route("getAction", "GET", f"{SCHEDULING}/<action_id>", _READ, header="ETag")
    def get(self, action_id: str, request: Request) -> Response[ActionView]:
        """Return the action."""
        action = self.api.scheduler(request).get(action_id)
        view = ActionView.in_full(action, reader_at(self.api, request).of_action(action))
        return Response(HTTPStatus.OK, _JSON, view, headers={"ETag": etag_of_action(action)})

    @route(
        "cancelAction",
        "DELETE",
        f"{SCHEDULING}/<action_id>",
        _MANAGE,
        second_status=_ASKED,
        operation=Operation("cancel", AuditKind.ACTION),
    )
    def cancel(self, action_id: str, request: Request) -> Response[ActionSummary]:
        """Cancel a pending action (200), or request that a running one stops (202)."""
        action = self.api.scheduler_for(request, action_id).cancel(action_id)
        is_done = action.status is Status.CANCELLED
        return Response(_DONE if is_done else _ASKED, _JSON, ActionSummary.from_action(action))

    @route(
        "rescheduleAction",
        "PUT",
        f"{SCHEDULING}/<action_id>/reschedule",
        _MANAGE,
        operation=Operation("reschedule", AuditKind.ACTION),
    )
    def reschedule(
        self, action_id: str, due: Annotated[DueRequest, Body()], request: Request
    ) -> ActionSummary:
        """Give a pending action another due time."""
        return ActionSummary.from_action(
            self.api.scheduler_for(request, action_id).reschedule(action_id, due.when(), tz=due.tz)
        )

    @route(
        "redriveAction",
        "POST",
        f"{SCHEDULING}/<action_id>/redrive",
        _MANAGE,
        operation=Operation("redrive", AuditKind.ACTION),
    )
    def redrive(
        self, action_id: str, request: Request, due: Annotated[RedriveBody | None, Body()] = None
    ) -> ActionSummary:
        """Run a failed action again: at once, or at the time in the body."""
        scheduler = self.api.scheduler_for(request, action_id)
        if due is None:
            return ActionSummary.from_action(scheduler.redrive(action_id))
        return ActionSummary.from_action(scheduler.redrive(action_id, at=due.when(), tz=due.tz))
