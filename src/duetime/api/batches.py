"""Routes of batches: list, read, close, and change all members."""

from __future__ import annotations

from typing import Annotated, Self

from aws_lambda_powertools.event_handler.openapi.params import Body, Query
from aws_lambda_powertools.event_handler.request import Request
from pydantic import Field

from duetime.actions.batches import Batches
from duetime.api.api_model import ApiModel
from duetime.api.context import ApiRoutes
from duetime.api.filters import BulkView, page_view
from duetime.api.parameters import LARGEST_PAGE
from duetime.api.requests import RequestBody
from duetime.api.routes import Operation, route
from duetime.api.views import ActionPage, Instant
from duetime.model.action import Status
from duetime.model.audit import AuditKind
from duetime.model.batch import ActionBatch, BatchState
from duetime.model.permissions import Permission

BATCHES = "/batches"
_READ, _MANAGE = Permission.READ_ACTIONS, Permission.MANAGE_ACTIONS


class BatchView(ApiModel):
    """A batch with its progress, as it was counted last."""

    name: str
    """Its name, one of its tenant."""
    state: BatchState
    """``open`` until it is closed, then ``running``; ``complete`` when all members are final."""
    size: int
    """How many members it has."""
    executed: int
    """How many were executed."""
    failed: int
    """How many have failed."""
    cancelled: int
    """How many were cancelled."""
    skipped: int
    """How many were skipped."""
    left: int
    """How many were not final."""
    counted_at: Instant | None
    """When they were counted; null before the first count."""
    opened_at: Instant
    """When it was opened."""
    opened_by: str
    """Who opened it."""
    closed_at: Instant | None
    """From when on no member could be added; null while it is open."""
    closed_by: str | None
    """Who closed it."""
    completed_at: Instant | None
    """When it was first complete."""
    on_complete: str | None
    """The action that runs then; null if it has none."""

    @classmethod
    def from_batch(cls, batch: ActionBatch) -> Self:
        """Return the view of a batch."""
        same = {name: getattr(batch, name) for name in cls.model_fields if name not in batch.counts._fields}
        return cls(**same, **batch.counts._asdict())


class BatchList(ApiModel):
    """A page of batches; `next_cursor` is null on the last one."""

    items: list[BatchView]
    """By name, at most `limit`."""
    next_cursor: str | None
    """The cursor of the next page; null on the last one."""


class MembersRequest(RequestBody):
    """A step of a change of all members."""

    limit: Annotated[int, Field(strict=True, ge=1, le=LARGEST_PAGE, description="how many at most")] = 100
    cursor: Annotated[str | None, Field(description="the `next_cursor` of the previous step")] = None
    dry_run: Annotated[bool, Field(strict=True, description="only say which")] = False


class BatchRoutes(ApiRoutes):
    """Serves the batches of the caller's tenant."""

    tag = "batches"

    @route("listBatches", "GET", BATCHES, _READ)
    def list(
        self,
        request: Request,
        limit: Annotated[int, Query(ge=1, le=LARGEST_PAGE)] = 50,
        cursor: Annotated[str | None, Query()] = None,
    ) -> BatchList:
        """Return a page of the batches, by name; open ones too."""
        page = self._batches(request).list(limit=limit, cursor=cursor)
        return BatchList(items=[BatchView.from_batch(batch) for batch in page], next_cursor=page.cursor)

    @route("getBatch", "GET", f"{BATCHES}/<batch_name>", _READ)
    def get(self, batch_name: str, request: Request) -> BatchView:
        """Return a batch with its progress."""
        return BatchView.from_batch(self._batches(request).get(batch_name))

    @route("listMembers", "GET", f"{BATCHES}/<batch_name>/members", _READ)
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
        f"{BATCHES}/<batch_name>/close",
        _MANAGE,
        operation=Operation("close", AuditKind.BATCH),
    )
    def close(self, batch_name: str, request: Request) -> BatchView:
        """Close an open batch: no member can be added, and it is complete when all are final."""
        return BatchView.from_batch(self._batches(request).close(batch_name))

    @route(
        "cancelBatch",
        "POST",
        f"{BATCHES}/<batch_name>/cancel",
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
        f"{BATCHES}/<batch_name>/redrive",
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
