"""Routes of bulk changes, cancel and redrive by filters, and of the list of failed actions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Body, Query
from aws_lambda_powertools.event_handler.request import Request

from duetime.api.context import SCHEDULING, ApiContext
from duetime.api.filters import (
    BulkRedriveRequest,
    BulkRequest,
    BulkView,
    DeadLetterQuery,
    page_view,
)
from duetime.api.routes import Operation, RouteGroup, route
from duetime.api.views import ActionPage
from duetime.model.action import Status
from duetime.model.audit import AuditKind
from duetime.model.permissions import Permission
from duetime.model.selection import Filters

DEAD_LETTERS = "/dead-letters"


@dataclass(frozen=True, slots=True)
class BulkRoutes(RouteGroup):
    """The caller's tenant's actions, and the runs of the jobs that the caller sees, many at once."""

    tag = "actions"

    api: ApiContext

    @route(
        "cancelActions",
        "POST",
        f"{SCHEDULING}/cancel",
        Permission.MANAGE_ACTIONS,
        operation=Operation("cancel", AuditKind.MANY, has_dry_run=True),
    )
    def cancel(self, body: Annotated[BulkRequest, Body()], request: Request) -> BulkView:
        """Cancel the actions that match the filters, step by step; call again with `next_cursor`."""
        scheduler = self.api.scheduler(request)
        step = scheduler.cancel_many(
            dry_run=body.dry_run, limit=body.limit, cursor=body.cursor, **body.filters()
        )
        return BulkView.from_result(step)

    @route(
        "redriveActions",
        "POST",
        f"{SCHEDULING}/redrive",
        Permission.MANAGE_ACTIONS,
        operation=Operation("redrive", AuditKind.MANY, has_dry_run=True),
    )
    def redrive(self, body: Annotated[BulkRedriveRequest, Body()], request: Request) -> BulkView:
        """Run the failed ones that meet the filters again; call again with `next_cursor`."""
        scheduler = self.api.scheduler(request)
        step = scheduler.redrive_many(
            at=body.when(),
            tz=body.tz,
            dry_run=body.dry_run,
            limit=body.limit,
            cursor=body.cursor,
            **body.filters(),
        )
        return BulkView.from_result(step)

    @route("listDeadLetters", "GET", DEAD_LETTERS, Permission.READ_ACTIONS)
    def dead_letters(self, query: Annotated[DeadLetterQuery, Query()], request: Request) -> ActionPage:
        """A page of failed actions, runs of jobs too, the latest failure first."""
        failed: Filters = {**query.filters(), "status": Status.FAILED}
        return page_view(self.api.scheduler(request).list(limit=query.limit, cursor=query.cursor, **failed))
