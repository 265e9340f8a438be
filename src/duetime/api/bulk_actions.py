"""Routes that change all actions of a selection, step by step, and the count of those that match."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Body
from aws_lambda_powertools.event_handler.request import Request

from duetime.actions.bulk import BulkResult
from duetime.api.context import ACTIONS
from duetime.api.filters import BulkRedriveRequest, BulkRequest, BulkView, MatchedView
from duetime.api.routes import Operation, RouteGroup, route
from duetime.clock import Clock
from duetime.model.action import Action
from duetime.model.audit import AuditKind
from duetime.model.permissions import Permission
from duetime.model.selection import Filters

MOST_STEPS, STEP = 25, 200
"""The most steps of one count, and the rows of a step: a preview counts up to 5,000 actions."""

LONGEST = timedelta(seconds=5)
"""A count ends after the step in which this time has passed."""

Step = Callable[[int, str | None], BulkResult]
"""A dry-run step: its limit and its cursor."""


def count_matches(first: BulkResult, step: Step, clock: Clock) -> MatchedView:
    """Count the actions that a dry run would change, from its first step on, for some seconds at most."""
    found: list[Action] = [*first.changed]
    cursor = first.cursor
    ends = clock.now() + LONGEST
    for _ in range(MOST_STEPS):
        if cursor is None or clock.now() >= ends:
            break
        result = step(STEP, cursor)
        found.extend(result.changed)
        cursor = result.cursor
    return MatchedView(
        count=len(found),
        more=cursor is not None,
        by_type=dict(Counter(action.type for action in found).most_common()),
        by_status=dict(Counter(_status(action) for action in found).most_common()),
    )


def _status(action: Action) -> str:
    return "retrying" if action.is_retrying else action.status.value


class BulkActionRoutes(RouteGroup):
    """Changes many actions of the caller's tenant, and previews the change."""

    tag = "actions"

    @route(
        "cancelActions",
        "POST",
        f"{ACTIONS}/cancel",
        Permission.MANAGE_ACTIONS,
        operation=Operation("cancel", AuditKind.MANY, has_dry_run=True),
    )
    def cancel_many(self, body: Annotated[BulkRequest, Body()], request: Request) -> BulkView:
        """Cancel the actions that match the filters, step by step; call again with `next_cursor`."""
        filters = self._with_cut_off(body)
        cancel = partial(self.api.scheduler(request).cancel_many, dry_run=body.dry_run, **filters)
        return self._step(body, filters, lambda limit, cursor: cancel(limit=limit, cursor=cursor))

    @route(
        "redriveActions",
        "POST",
        f"{ACTIONS}/redrive",
        Permission.MANAGE_ACTIONS,
        operation=Operation("redrive", AuditKind.MANY, has_dry_run=True, creates_work=True),
    )
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
