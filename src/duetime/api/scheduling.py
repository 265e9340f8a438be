"""Routes of actions: schedule, list, look up, and change one."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Body, Header, Query
from aws_lambda_powertools.event_handler.request import Request

from duetime.actions.why import Reason, WhySources, why
from duetime.api.authenticator import require
from duetime.api.context import ACTIONS, caller_at, place_of, reader_at
from duetime.api.filters import ActionQuery, DeadLetterQuery, page_view
from duetime.api.preconditions import etag_of_action
from duetime.api.redactor import Redactor
from duetime.api.requests import (
    DismissRequest,
    DueRequest,
    RedriveBody,
    ScheduleRequest,
)
from duetime.api.routes import Operation, RouteGroup, route
from duetime.api.views import ActionPage, ActionSummary, ActionView, View, answer, shows
from duetime.declare.built_in import Probe
from duetime.jobs.trusted_reading import KnownLimits
from duetime.model.action import Action, Status
from duetime.model.audit import AuditKind
from duetime.model.built_in import RESERVED
from duetime.model.expiry import NO_EXPIRY, Expiry
from duetime.model.permissions import Permission
from duetime.model.rate_limit import RateLimit
from duetime.model.selection import Filters

_READ, _MANAGE = Permission.READ_ACTIONS, Permission.MANAGE_ACTIONS
_DONE, _MADE, _REQUESTED = HTTPStatus.OK, HTTPStatus.CREATED, HTTPStatus.ACCEPTED


@shows(Reason, "sentence runs_at")
class ReasonView(View):
    """Why an action has not run, or how it ended."""


class Scheduling(RouteGroup):
    """Serves the actions of the caller's tenant, and the runs of the jobs that the caller sees."""

    tag = "actions"

    @route(
        "scheduleAction",
        "POST",
        ACTIONS,
        _MANAGE,
        status=_MADE,
        second_status=_DONE,
        operation=Operation("schedule", AuditKind.ACTION, is_new=True, creates_work=True),
        header="Location",
    )
    def schedule(
        self,
        body: Annotated[ScheduleRequest, Body()],
        request: Request,
        idempotency_key: Annotated[str | None, Header(alias="Idempotency-Key")] = None,
    ) -> Response[ActionView]:
        """Schedule an action (201), or return the first one of its idempotency key (200).

        With a debounce key, a repeat changes the action that awaits its first run (200).

        Its type is looked up among the registered ones and never imported.
        """
        payload = self.api.app.payload(body.type, json.dumps(body.payload))
        if isinstance(payload, Probe) and payload.die:
            require(caller_at(request), Permission.SYSTEM, what="a probe that ends its worker's process")
        order = body.order(payload, idempotency_key)
        placed = self.api.scheduler(request).place(order)
        view = _in_full(placed.action, reader_at(self.api, request))
        location = place_of(request, ACTIONS, placed.action.id)
        return answer(view, _MADE if placed.is_new else _DONE, Location=location)

    @route("listActions", "GET", f"{ACTIONS}/query", _READ)
    def query(self, query: Annotated[ActionQuery, Query()], request: Request) -> ActionPage:
        """Return a page of the actions that match all filters, newest first; by correlation id oldest first.

        Failed ones come by their failure; those of a due range soonest first, where the deployment has
        `due_order`. It
        may be shorter than `limit`, or empty, while `next_cursor` leads on to more.
        """
        scheduler = self.api.scheduler(request)
        page = scheduler.list(limit=query.limit, cursor=query.cursor, **query.filters())
        return page_view(page, includes_runs=query.includes_runs(self.api.clock.now()))

    @route("getAction", "GET", f"{ACTIONS}/<action_id>", _READ, header="ETag")
    def get(self, action_id: str, request: Request) -> Response[ActionView]:
        """Return the action."""
        action = self.api.scheduler(request).get(action_id)
        return answer(_in_full(action, reader_at(self.api, request)), ETag=etag_of_action(action))

    @route("explainAction", "GET", f"{ACTIONS}/<action_id>/why", _READ)
    def why(self, action_id: str, request: Request) -> ReasonView:
        """Return why the action has not run, in one sentence, and when it will, if that is known."""
        action = self.api.scheduler(request).get(action_id)
        sources = WhySources(
            store=self.api.store,
            settings=self.api.settings,
            hold_of=self.api.hold_of,
            skip_of=self.api.skip_of,
            job_of=self.api.jobs.jobs.get,
            expiry_of=self._expiry_of,
            rate_of=self._rate_of,
        )
        return ReasonView.of(why(action, self.api.clock.now(), sources))

    def _expiry_of(self, action: Action) -> Expiry | None:
        """Return the expiry of a type; None if the app has no handler for it."""
        if action.type.startswith(RESERVED):
            return NO_EXPIRY
        handler = self.api.app.handlers.get(action.type)
        return None if handler is None else handler.expiry

    def _rate_of(self, action: Action) -> RateLimit | None:
        """Return the rate limit of a type in force; None if it has none."""
        handler = self.api.app.handlers.get(action.type)
        if handler is None or handler.rate is None:
            return None
        return KnownLimits(self.api.limits, self.api.clock).of(action.type, handler.rate.limit)

    @route(
        "cancelAction",
        "DELETE",
        f"{ACTIONS}/<action_id>",
        _MANAGE,
        second_status=_REQUESTED,
        operation=Operation("cancel", AuditKind.ACTION),
    )
    def cancel(self, action_id: str, request: Request) -> Response[ActionSummary]:
        """Cancel a pending action (200), or request that a running one stops (202)."""
        action = self.api.scheduler_for(request, action_id).cancel(action_id)
        is_done = action.status is Status.CANCELLED
        return answer(ActionSummary.of(action), _DONE if is_done else _REQUESTED)

    @route(
        "rescheduleAction",
        "PUT",
        f"{ACTIONS}/<action_id>/reschedule",
        _MANAGE,
        operation=Operation("reschedule", AuditKind.ACTION),
    )
    def reschedule(
        self, action_id: str, due: Annotated[DueRequest, Body()], request: Request
    ) -> ActionSummary:
        """Give a pending action another due time."""
        return ActionSummary.of(
            self.api.scheduler_for(request, action_id).reschedule(
                action_id, due.when(), tz=due.tz, precision=due.precision, **due.expiry()
            )
        )

    @route(
        "redriveAction",
        "POST",
        f"{ACTIONS}/<action_id>/redrive",
        _MANAGE,
        operation=Operation("redrive", AuditKind.ACTION, creates_work=True),
    )
    def redrive(
        self, action_id: str, request: Request, due: Annotated[RedriveBody | None, Body()] = None
    ) -> ActionSummary:
        """Run a failed action again: at once, or at the time in the body."""
        scheduler = self.api.scheduler_for(request, action_id)
        if due is None:
            return ActionSummary.of(scheduler.redrive(action_id))
        return ActionSummary.of(
            scheduler.redrive(action_id, at=due.when(), tz=due.tz, precision=due.precision)
        )

    @route(
        "dismissAction",
        "POST",
        f"{ACTIONS}/<action_id>/dismiss",
        _MANAGE,
        operation=Operation("dismiss", AuditKind.ACTION),
    )
    def dismiss(
        self, action_id: str, body: Annotated[DismissRequest, Body()], request: Request
    ) -> ActionSummary:
        """Remove a failed action from the dead letters. It stays failed, and can still be redriven."""
        scheduler = self.api.scheduler_for(request, action_id)
        return ActionSummary.of(scheduler.dismiss(action_id, reason=body.reason))

    @route("listDeadLetters", "GET", "/dead-letters", _READ)
    def dead_letters(self, query: Annotated[DeadLetterQuery, Query()], request: Request) -> ActionPage:
        """A page of failed actions, runs of jobs too, the latest failure first; without dismissed ones."""
        failed: Filters = {**query.filters(), "status": Status.FAILED}
        page = self.api.scheduler(request).list(limit=query.limit, cursor=query.cursor, **failed)
        return page_view(page, includes_runs=query.runs is not False)


def _in_full(action: Action, redactor: Redactor) -> ActionView:
    return ActionView.in_full(
        action,
        redactor.of_action(action),
        checkpoint=redactor.checkpoint_of(action),
        result=redactor.result_of(action),
    )
