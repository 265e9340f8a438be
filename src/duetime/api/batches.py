"""Routes of batches: list, read, close, and change all members."""

from __future__ import annotations

from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Body, Query
from aws_lambda_powertools.event_handler.request import Request
from pydantic import Field

from duetime.actions.batches import Batches
from duetime.api.filters import BulkView, page_view
from duetime.api.parameters import LARGEST_PAGE
from duetime.api.requests import RequestBody
from duetime.api.routes import Operation, RouteGroup, route
from duetime.api.views import ActionPage, PageView, View, shows
from duetime.model.action import Status
from duetime.model.audit import AuditKind
from duetime.model.batch import ActionBatch, Counts
from duetime.model.permissions import Permission

_READ, _MANAGE = Permission.READ_ACTIONS, Permission.MANAGE_ACTIONS


@shows(Counts, "executed failed cancelled skipped")
@shows(
    ActionBatch,
    "name state size left counted_at opened_at opened_by closed_at closed_by completed_at on_complete",
)
class BatchView(View):
    """A batch with its progress, as it was counted last."""


class BatchList(PageView):
    """A page of batches; `next_cursor` is null on the last one."""

    items: list[BatchView]
    """By name, at most `limit`."""


class MembersRequest(RequestBody):
    """A step of a change of all members."""

    limit: Annotated[int, Field(strict=True, ge=1, le=LARGEST_PAGE, description="how many at most")] = 100
    cursor: Annotated[str | None, Field(description="the `next_cursor` of the previous step")] = None
    dry_run: Annotated[bool, Field(strict=True, description="only say which")] = False


class BatchRoutes(RouteGroup):
    """Serves the batches of the caller's tenant."""

    tag = "batches"

    @route("listBatches", "GET", "/batches", _READ)
    def list(
        self,
        request: Request,
        limit: Annotated[int, Query(ge=1, le=LARGEST_PAGE)] = 50,
        cursor: Annotated[str | None, Query()] = None,
    ) -> BatchList:
        """Return a page of the batches, by name; open ones too."""
        page = self._batches(request).list(limit=limit, cursor=cursor)
        return BatchList(items=[_view(batch) for batch in page], next_cursor=page.cursor)

    @route("getBatch", "GET", "/batches/<batch_name>", _READ)
    def get(self, batch_name: str, request: Request) -> BatchView:
        """Return a batch with its progress."""
        return _view(self._batches(request).get(batch_name))

    @route("listMembers", "GET", "/batches/<batch_name>/members", _READ)
    def members(
        self,
        batch_name: str,
        request: Request,
        status: Annotated[Status | None, Query()] = None,
        limit: Annotated[int, Query(ge=1, le=LARGEST_PAGE)] = 50,
        cursor: Annotated[str | None, Query()] = None,
    ) -> ActionPage:
        """Return a page of the members by number, optionally of one status; it may be short, or empty."""
        page = self._batches(request).members(batch_name, status=status, limit=limit, cursor=cursor)
        return page_view(page, includes_runs=False)

    @route(
        "closeBatch",
        "POST",
        "/batches/<batch_name>/close",
        _MANAGE,
        operation=Operation("close", AuditKind.BATCH),
    )
    def close(self, batch_name: str, request: Request) -> BatchView:
        """Close an open batch: no member can be added, and it is complete when all are final."""
        return _view(self._batches(request).close(batch_name))

    @route(
        "cancelBatch",
        "POST",
        "/batches/<batch_name>/cancel",
        _MANAGE,
        operation=Operation("cancel", AuditKind.BATCH, has_dry_run=True),
    )
    def cancel(self, batch_name: str, body: Annotated[MembersRequest, Body()], request: Request) -> BulkView:
        """Close a batch, cancel its pending members, and request that the running ones stop, step by step."""
        batches = self._batches(request)
        step = batches.cancel(batch_name, dry_run=body.dry_run, limit=body.limit, cursor=body.cursor)
        return BulkView.from_result(step, {}, None)

    @route(
        "redriveBatch",
        "POST",
        "/batches/<batch_name>/redrive",
        _MANAGE,
        operation=Operation("redrive", AuditKind.BATCH, has_dry_run=True, creates_work=True),
    )
    def redrive(self, batch_name: str, body: Annotated[MembersRequest, Body()], request: Request) -> BulkView:
        """Run the failed members again, step by step; the completion action does not run twice."""
        batches = self._batches(request)
        step = batches.redrive(batch_name, dry_run=body.dry_run, limit=body.limit, cursor=body.cursor)
        return BulkView.from_result(step, {}, None)

    def _batches(self, request: Request) -> Batches:
        return self.api.scheduler(request).batches


def _view(batch: ActionBatch) -> BatchView:
    return BatchView.of(batch, batch.counts)
