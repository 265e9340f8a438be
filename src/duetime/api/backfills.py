"""Routes of backfills: preview and begin one, follow its progress, change its state."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Literal

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Body, Query
from aws_lambda_powertools.event_handler.request import Request
from pydantic import Field

from duetime.api.context import JOBS, caller_at, place_of
from duetime.api.requests import RequestBody, read_time
from duetime.api.routes import Operation, RouteGroup, route
from duetime.api.views import Instant, View, answer, shows
from duetime.model.audit import AuditKind
from duetime.model.backfill import (
    MOST_AT_ONCE,
    USUAL_AT_ONCE,
    Backfill,
    BackfillOrder,
)
from duetime.model.permissions import Permission

_READ, _MANAGE = Permission.READ_JOBS, Permission.MANAGE_JOBS
_BACKFILLS = f"{JOBS}/<name>/backfills"
_BACKFILL = f"{_BACKFILLS}/<backfill_id>"

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


class ChangeRequest(RequestBody):
    """A change of a backfill."""

    state: Annotated[
        Literal["running", "paused", "cancelled"], Field(description="the state that it is to have")
    ]


@shows(
    Backfill,
    "id state version start until order at_once again total executed failed skipped cancelled"
    " left_out remaining open begun_by begun_at changed_by changed_at ended_at",
)
class BackfillView(View):
    """A backfill with its progress."""

    job: str
    """The job whose past nominal times it runs."""


class BackfillList(View):
    """A job's backfills."""

    items: list[BackfillView]
    """The latest first, ended ones included."""


class LeftOutView(View):
    """A nominal time that a backfill leaves out."""

    at: Instant
    """The nominal time."""
    status: str
    """The status of its run; ``forgotten`` if its row was removed after the retention."""


class BackfillPreviewView(View):
    """What a backfill would run."""

    total: int
    """The nominal times in the range."""
    items: list[Instant]
    """Those that it would run, oldest first."""
    left_out: list[LeftOutView]
    """Those that it would leave out."""


class BackfillRoutes(RouteGroup):
    """Serves the backfills of the jobs that the caller may manage."""

    tag = "jobs"

    @route("listBackfills", "GET", _BACKFILLS, _READ)
    def list(self, name: str, request: Request) -> BackfillList:
        """Return the job's backfills with their progress, the latest first."""
        found = self.api.scheduler(request).jobs.backfills(name)
        return BackfillList(items=[_view(backfill) for backfill in found])

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
        location = f"{place_of(request, JOBS, name)}/backfills/{backfill.id}"
        return answer(_view(backfill), HTTPStatus.CREATED, Location=location)

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
        found = jobs.preview_backfill(name, first, end, again=again)
        left_out = [LeftOutView(at=at, status=status) for at, status in sorted(found.left_out.items())]
        return BackfillPreviewView(total=len(found.times), items=list(found.to_run), left_out=left_out)

    @route("getBackfill", "GET", _BACKFILL, _READ)
    def get(self, name: str, backfill_id: str, request: Request) -> BackfillView:
        """Return a backfill with its progress."""
        return _view(self.api.scheduler(request).jobs.get_backfill(name, backfill_id))

    @route(
        "changeBackfill",
        "PATCH",
        _BACKFILL,
        _MANAGE,
        operation=Operation("change-backfill", AuditKind.JOB),
    )
    def change(
        self, name: str, backfill_id: str, body: Annotated[ChangeRequest, Body()], request: Request
    ) -> BackfillView:
        """Pause the backfill: no further runs begin, and open ones end; resume it; or cancel it.

        A cancel cancels its pending runs, and requests that the running ones stop.
        """
        jobs = self.api.jobs_for(request, name)
        if body.state == "running":
            self.api.check_not_paused(caller_at(request).tenant_id)
        changes = {
            "running": jobs.resume_backfill,
            "paused": jobs.pause_backfill,
            "cancelled": jobs.cancel_backfill,
        }
        return _view(changes[body.state](name, backfill_id))


def _view(backfill: Backfill) -> BackfillView:
    return BackfillView.of(backfill, job=backfill.ref.job.name)
