"""Routes that change all actions of a selection, step by step."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Body
from aws_lambda_powertools.event_handler.request import Request

from duetime.api.bulk_preview import Step, count_matches
from duetime.api.context import ACTIONS, ApiRoutes
from duetime.api.filters import BulkRedriveRequest, BulkRequest, BulkView
from duetime.api.routes import Method, Operation, route
from duetime.model.audit import AuditKind
from duetime.model.permissions import Permission
from duetime.model.selection import Filters


def _bulk_route(operation_id: str, operation: Operation) -> Callable[[Method], Method]:
    """Mark a method as the route of a bulk change, whose path ends in the operation's name."""
    path = f"{ACTIONS}/{operation.name}"
    return route(operation_id, "POST", path, Permission.MANAGE_ACTIONS, operation=operation)


class BulkActionRoutes(ApiRoutes):
    """Changes many actions of the caller's tenant, and previews the change."""

    tag = "actions"

    @_bulk_route("cancelActions", Operation("cancel", AuditKind.MANY, has_dry_run=True))
    def cancel_many(self, body: Annotated[BulkRequest, Body()], request: Request) -> BulkView:
        """Cancel the actions that match the filters, step by step; call again with `next_cursor`."""
        filters = self._with_cut_off(body)
        cancel = partial(self.api.scheduler(request).cancel_many, dry_run=body.dry_run, **filters)
        return self._step(body, filters, lambda limit, cursor: cancel(limit=limit, cursor=cursor))

    @_bulk_route("redriveActions", Operation("redrive", AuditKind.MANY, has_dry_run=True, creates_work=True))
    def redrive_many(self, body: Annotated[BulkRedriveRequest, Body()], request: Request) -> BulkView:
        """Run the failed ones that meet the filters again; call again with `next_cursor`."""
        filters = self._with_cut_off(body)
        redrive = partial(
            self.api.scheduler(request).redrive_many,
            at=body.when(),
            precision=body.precision,
            tz=body.tz,
            dry_run=body.dry_run,
            **filters,
        )
        return self._step(body, filters, lambda limit, cursor: redrive(limit=limit, cursor=cursor))

    def _with_cut_off(self, body: BulkRequest) -> Filters:
        """Return the filters; a preview excludes what is scheduled after it."""
        filters = body.filters()
        if body.dry_run and filters.keys() - {"runs"}:  # without a filter it is rejected
            filters.setdefault("created_until", self.api.clock.now())
        return filters

    def _step(self, body: BulkRequest, filters: Filters, step: Step) -> BulkView:
        result = step(body.limit, body.cursor)
        is_first = body.dry_run and body.cursor is None
        return BulkView.from_result(
            result, filters, count_matches(result, step, self.api.clock) if is_first else None
        )
