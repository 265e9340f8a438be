"""Routes of backfills: preview and begin one, follow its progress, pause, resume and cancel it."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Self

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Body, Query
from aws_lambda_powertools.event_handler.request import Request
from pydantic import Field

from duetime.api.api_model import ApiModel
from duetime.api.context import JOBS, ApiRoutes, place_of
from duetime.api.requests import RequestBody, read_time
from duetime.api.routes import Operation, route
from duetime.api.views import Instant
from duetime.jobs.backfills import BackfillPreview
from duetime.model.audit import AuditKind
from duetime.model.backfill import (
    MOST_AT_ONCE,
    USUAL_AT_ONCE,
    Backfill,
    BackfillOrder,
    BackfillState,
)
from duetime.model.permissions import Permission

_READ, _MANAGE = Permission.READ_JOBS, Permission.MANAGE_JOBS
_BACKFILLS = f"{JOBS}/<name>/backfills"
_BACKFILL = f"{_BACKFILLS}/<backfill_id>"
_JSON = "application/json"

RangeStart = Annotated[str, Query(alias="from", description="the first ISO 8601 instant of the range")]
RangeEnd = Annotated[str, Query(description="the end of the range, excluded; not in the future")]


class BackfillRequest(RequestBody):
    """A range of past nominal times, and how they run."""

    start: Annotated[str, Field(alias="from", description="the first ISO 8601 instant of the range")]
    until: Annotated[str, Field(description="the end of the range, excluded; not in the future")]
    at_once: Annotated[
        int, Field(description=f"the most open runs, 1 to {MOST_AT_ONCE}", strict=True, ge=1, le=MOST_AT_ONCE)
    ] = USUAL_AT_ONCE
    order: Annotated[BackfillOrder, Field(description="which times come first")] = BackfillOrder.OLDEST
    again: Annotated[bool, Field(description="run times that already ran, too", strict=True)] = False


class BackfillView(ApiModel):
    """A backfill with its progress."""

    id: str
    """Its id, unique within its job."""
    job: str
    """The job whose past nominal times it runs."""
    state: BackfillState
    """``running`` until all its runs have ended, unless a caller pauses or cancels it."""
    version: int
    """The job's version whose times run."""
    start: Instant
    """The first instant of the range."""
    until: Instant
    """The end of the range, excluded."""
    order: BackfillOrder
    """Which times come first."""
    at_once: int
    """The most open runs."""
    again: bool
    """Whether times run that already ran."""
    total: int
    """The nominal times in the range."""
    executed: int
    """How many of its runs were executed."""
    failed: int
    """How many have failed."""
    skipped: int
    """How many were skipped."""
    cancelled: int
    """How many were cancelled."""
    left_out: int
    """How many times already ran, or were about to."""
    remaining: int
    """How many times have not begun."""
    open: list[Instant]
    """The times whose runs have begun and not ended."""
    begun_by: str
    """Who began it."""
    begun_at: Instant
    """When that was."""
    changed_by: str | None
    """Who last paused, resumed or cancelled it; null if no caller has."""
    changed_at: Instant | None
    """When that was."""
    ended_at: Instant | None
    """When its last run had ended; null before."""

    @classmethod
    def from_backfill(cls, backfill: Backfill) -> Self:
        """Return the view of a backfill."""
        same = {name: getattr(backfill, name) for name in cls.model_fields if name not in {"job", "open"}}
        return cls(**same, job=backfill.ref.job.name, open=list(backfill.open))


class BackfillList(ApiModel):
    """A job's backfills."""

    items: list[BackfillView]
    """The latest first, ended ones included."""


class LeftOutView(ApiModel):
    """A nominal time that a backfill leaves out."""

    at: Instant
    """The nominal time."""
    status: str
    """The status of its run; ``forgotten`` if its row was removed after the retention."""


class BackfillPreviewView(ApiModel):
    """What a backfill would run."""

    total: int
    """The nominal times in the range."""
    items: list[Instant]
    """Those that it would run, oldest first."""
    left_out: list[LeftOutView]
    """Those that it would leave out."""

    @classmethod
    def from_preview(cls, preview: BackfillPreview) -> Self:
        """Return the view of a preview."""
        left_out = [LeftOutView(at=at, status=status) for at, status in sorted(preview.left_out.items())]
        return cls(total=len(preview.times), items=list(preview.to_run), left_out=left_out)


class BackfillRoutes(ApiRoutes):
    """Serves the backfills of the jobs that the caller may manage."""

    tag = "jobs"

    @route("listBackfills", "GET", _BACKFILLS, _READ)
    def list(self, name: str, request: Request) -> BackfillList:
        """Return the job's backfills with their progress, the latest first."""
        found = self.api.scheduler(request).jobs.backfills(name)
        return BackfillList(items=[BackfillView.from_backfill(backfill) for backfill in found])

    @route(
        "backfillJob",
        "POST",
        _BACKFILLS,
        _MANAGE,
        status=HTTPStatus.CREATED,
        operation=Operation("backfill", AuditKind.JOB, creates_work=True),
        header="Location",
    )
    def begin(
        self, name: str, body: Annotated[BackfillRequest, Body()], request: Request
    ) -> Response[BackfillView]:
        """Run the past nominal times of a range that have not run, beside the current runs.

        The same request again returns the unfinished backfill that the first one began.
        """
        backfill = self.api.jobs_for(request, name).backfill(
            name,
            read_time(body.start, "from"),
            read_time(body.until, "until"),
            at_once=body.at_once,
            order=body.order,
            again=body.again,
        )
        location = {"Location": f"{place_of(request, JOBS, name)}/backfills/{backfill.id}"}
        view = BackfillView.from_backfill(backfill)
        return Response(HTTPStatus.CREATED, _JSON, view, headers=location)

    @route("previewBackfill", "GET", f"{_BACKFILLS}/preview", _READ)
    def preview(
        self,
        name: str,
        request: Request,
        *,
        start: RangeStart,
        until: RangeEnd,
        again: Annotated[bool, Query(description="whether times run that already ran")] = False,
    ) -> BackfillPreviewView:
        """Return the nominal times that a backfill would run, and those that it would leave out."""
        first, end = read_time(start, "from"), read_time(until, "until")
        jobs = self.api.scheduler(request).jobs
        return BackfillPreviewView.from_preview(jobs.preview_backfill(name, first, end, again=again))

    @route("getBackfill", "GET", _BACKFILL, _READ)
    def get(self, name: str, backfill_id: str, request: Request) -> BackfillView:
        """Return a backfill with its progress."""
        return BackfillView.from_backfill(self.api.scheduler(request).jobs.get_backfill(name, backfill_id))

    @route(
        "pauseBackfill",
        "POST",
        f"{_BACKFILL}/pause",
        _MANAGE,
        operation=Operation("pause-backfill", AuditKind.JOB),
    )
    def pause(self, name: str, backfill_id: str, request: Request) -> BackfillView:
        """Begin no further runs of the backfill; open ones end."""
        jobs = self.api.jobs_for(request, name)
        return BackfillView.from_backfill(jobs.pause_backfill(name, backfill_id))

    @route(
        "resumeBackfill",
        "POST",
        f"{_BACKFILL}/resume",
        _MANAGE,
        operation=Operation("resume-backfill", AuditKind.JOB, creates_work=True),
    )
    def resume(self, name: str, backfill_id: str, request: Request) -> BackfillView:
        """Begin runs of a paused backfill again."""
        jobs = self.api.jobs_for(request, name)
        return BackfillView.from_backfill(jobs.resume_backfill(name, backfill_id))

    @route(
        "cancelBackfill",
        "POST",
        f"{_BACKFILL}/cancel",
        _MANAGE,
        operation=Operation("cancel-backfill", AuditKind.JOB),
    )
    def cancel(self, name: str, backfill_id: str, request: Request) -> BackfillView:
        """End the backfill: cancel its pending runs, and request that the running ones stop."""
        jobs = self.api.jobs_for(request, name)
        return BackfillView.from_backfill(jobs.cancel_backfill(name, backfill_id))
