"""The routes of actions: schedule, look up, cancel, reschedule, redrive. Each does one call of the `Scheduler`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Body, Header, Query
from aws_lambda_powertools.event_handler.request import Request

from duetime.api.context import SCHEDULING, ApiContext, place_of
from duetime.api.filters import ActionQuery, page_view
from duetime.api.parameters import refuse_doubled, refuse_unknown
from duetime.api.preconditions import etag_of_action
from duetime.api.redactor import reader_at
from duetime.api.requests import DueRequest, RedriveBody, ScheduleRequest
from duetime.api.routes import Operation, Route
from duetime.api.views import ActionPage, ActionSummary, ActionView
from duetime.model.action import Status
from duetime.model.audit import AuditKind
from duetime.model.permissions import Permission

_READ, _MANAGE = Permission.READ_ACTIONS, Permission.MANAGE_ACTIONS
_operation = partial(Operation, about=AuditKind.ACTION)
_DONE, _MADE, _ASKED = HTTPStatus.OK, HTTPStatus.CREATED, HTTPStatus.ACCEPTED
_JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Scheduling:
    """Actions over HTTP, each caller's in the caller's own tenant, and the runs of the jobs that the caller sees."""

    desk: ApiContext

    def routes(self) -> Iterable[Route]:
        """What is served, under the prefix."""
        one = f"{SCHEDULING}/<action_id>"
        return (
            Route(
                "POST",
                SCHEDULING,
                self.schedule,
                _MANAGE,
                _MADE,
                _operation("schedule", is_new=True),
                also=_DONE,
            ),
            Route("GET", f"{SCHEDULING}/query", self.query, _READ),
            Route("GET", one, self.get, _READ),
            Route("DELETE", one, self.cancel, _MANAGE, _DONE, _operation("cancel"), also=_ASKED),
            Route("PUT", f"{one}/reschedule", self.reschedule, _MANAGE, operation=_operation("reschedule")),
            Route("POST", f"{one}/redrive", self.redrive, _MANAGE, operation=_operation("redrive")),
        )

    def schedule(
        self,
        said: Annotated[ScheduleRequest, Body()],
        request: Request,
        idempotency_key: Annotated[str | None, Header(alias="Idempotency-Key")] = None,
    ) -> Response[ActionView]:
        """Schedule an action (201), or tell the first one of its idempotency key (200).

        Its type is looked up among the registered ones and never imported.
        """
        order = said.order(self.desk.app.payload(said.type, json.dumps(said.payload)), idempotency_key)
        placed = self.desk.scheduler(request).place(order)
        status = _MADE if placed.is_new else _DONE
        location = {"Location": place_of(request, SCHEDULING, placed.action.id)}
        told = ActionView.in_full(placed.action, reader_at(self.desk, request).of_action(placed.action))
        return Response(status, _JSON, told, headers=location)

    def query(self, asked: Annotated[ActionQuery, Query()], request: Request) -> ActionPage:
        """A page of the actions that meet all filters: those of a correlation id oldest first, others newest first.

        Failed ones come by their failure; those of a due range soonest first, where the deployment has `due_order`. It
        may be shorter than `limit`, or empty, while `next_cursor` leads on to more.
        """
        refuse_unknown(request, [*ActionQuery.model_fields])
        refuse_doubled(request, but=["status"])
        scheduler = self.desk.scheduler(request)
        return page_view(scheduler.list(limit=asked.limit, cursor=asked.cursor, **asked.filters()))

    def get(self, action_id: str, request: Request) -> Response[ActionView]:
        """The action as of now."""
        action = self.desk.scheduler(request).get(action_id)
        told = ActionView.in_full(action, reader_at(self.desk, request).of_action(action))
        return Response(HTTPStatus.OK, _JSON, told, headers={"ETag": etag_of_action(action)})

    def cancel(self, action_id: str, request: Request) -> Response[ActionSummary]:
        """Cancel a pending action (200), or ask a running one to stop (202)."""
        action = self.desk.scheduler_for(request, action_id).cancel(action_id)
        is_done = action.status is Status.CANCELLED
        return Response(_DONE if is_done else _ASKED, _JSON, ActionSummary.of(action))

    def reschedule(
        self, action_id: str, due: Annotated[DueRequest, Body()], request: Request
    ) -> ActionSummary:
        """Give a pending action another due time."""
        return ActionSummary.of(
            self.desk.scheduler_for(request, action_id).reschedule(action_id, due.when(), tz=due.tz)
        )

    def redrive(
        self, action_id: str, request: Request, due: Annotated[RedriveBody | None, Body()] = None
    ) -> ActionSummary:
        """Run a failed action again: at once, or when the body says."""
        scheduler = self.desk.scheduler_for(request, action_id)
        if due is None:
            return ActionSummary.of(scheduler.redrive(action_id))
        return ActionSummary.of(scheduler.redrive(action_id, at=due.when(), tz=due.tz))
