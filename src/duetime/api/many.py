"""The routes of many actions at once: cancel and redrive by filters, step by step; and the list of those that failed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
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
from duetime.api.parameters import refuse_doubled, refuse_unknown
from duetime.api.routes import Operation, Route
from duetime.api.views import ActionPage
from duetime.model.action import Status
from duetime.model.audit import AuditKind
from duetime.model.permissions import Permission
from duetime.model.selection import Filters

DEAD_LETTERS = "/dead-letters"
_operation = partial(Operation, about=AuditKind.MANY, has_dry_run=True)


@dataclass(frozen=True, slots=True)
class BulkRoutes:
    """The caller's tenant's actions, and the runs of the jobs that the caller sees, many at once."""

    desk: ApiContext

    def routes(self) -> Iterable[Route]:
        """What is served, under the prefix."""
        manage = Permission.MANAGE_ACTIONS
        return (
            Route("POST", f"{SCHEDULING}/cancel", self.cancel, manage, operation=_operation("cancel")),
            Route("POST", f"{SCHEDULING}/redrive", self.redrive, manage, operation=_operation("redrive")),
            Route("GET", DEAD_LETTERS, self.dead_letters, Permission.READ_ACTIONS),
        )

    def cancel(self, said: Annotated[BulkRequest, Body()], request: Request) -> BulkView:
        """Cancel the pending ones that meet the filters, ask the running ones to stop; call again with `next_cursor`."""
        scheduler = self.desk.scheduler(request)
        step = scheduler.cancel_many(
            dry_run=said.dry_run, limit=said.limit, cursor=said.cursor, **said.filters()
        )
        return BulkView.of(step)

    def redrive(self, said: Annotated[BulkRedriveRequest, Body()], request: Request) -> BulkView:
        """Run the failed ones that meet the filters again; call again with `next_cursor`."""
        scheduler = self.desk.scheduler(request)
        step = scheduler.redrive_many(
            at=said.when(),
            tz=said.tz,
            dry_run=said.dry_run,
            limit=said.limit,
            cursor=said.cursor,
            **said.filters(),
        )
        return BulkView.of(step)

    def dead_letters(self, asked: Annotated[DeadLetterQuery, Query()], request: Request) -> ActionPage:
        """A page of failed actions, runs of jobs too, the latest failure first."""
        refuse_unknown(request, [*DeadLetterQuery.model_fields])
        refuse_doubled(request)
        failed: Filters = {**asked.filters(), "status": Status.FAILED}
        return page_view(self.desk.scheduler(request).list(limit=asked.limit, cursor=asked.cursor, **failed))
