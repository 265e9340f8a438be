"""The route of the recount: the last report on all nominal times, for operators."""

from __future__ import annotations

from dataclasses import dataclass

from aws_lambda_powertools.event_handler.request import Request

from duetime.api.api_model import ApiModel
from duetime.api.routes import RouteGroup, route
from duetime.api.views import Instant, View
from duetime.model.permissions import Permission
from duetime.model.recount import BOOKMARK, RecountProblem, RecountReport, begun_report, last_report
from duetime.ports.wakeups import Bookmarks

PATH = "/recount"


class AccountsView(ApiModel):
    """Numbers of nominal times, or of one-shots, by their result."""

    executed: int = 0
    """Runs that succeeded."""
    failed: int = 0
    """Runs that failed for good."""
    cancelled: int = 0
    """Those that were cancelled."""
    skipped: int = 0
    """Those that were skipped with a reason."""
    missed: int = 0
    """Those that were missed, and recorded as missed."""
    open: int = 0
    """Those that run, wait, or are recorded when a pause ends."""


class FindingView(View):
    """A nominal time of a job, or a one-shot, without a proper result."""

    problem: RecountProblem
    """What is wrong."""
    tenant_id: str
    """The tenant that owns it; ``system`` for code's jobs."""
    job: str | None
    """The job; null for a one-shot."""
    version: int | None
    """The job's version."""
    at: Instant
    """The nominal time; of a one-shot its due time."""
    action_id: str | None
    """Its row, if it has one."""


class RecountView(ApiModel):
    """The report of a recount."""

    began_at: Instant
    """When it began."""
    ended_at: Instant
    """When it ended."""
    since: Instant
    """It recounted the nominal times after this instant."""
    until: Instant
    """And up to this one."""
    jobs: int
    """The number of recounted jobs."""
    left_out: int
    """The number of jobs of paused tenants."""
    unread: list[str]
    """Jobs that could not be recounted, as ``tenant/name``."""
    times: AccountsView
    """The nominal times by their result."""
    one_shots: AccountsView
    """The sampled one-shots by their result."""
    found: int
    """The number of findings."""
    findings: list[FindingView]
    """The first 100 of them."""


class RecountState(ApiModel):
    """The last recount, and whether another one has begun."""

    last: RecountView | None
    """Null before the first one has ended."""
    begun_at: Instant | None
    """When the present one began, whose rest a later catch-up recounts; null without one."""


@dataclass(frozen=True, slots=True)
class RecountRoutes(RouteGroup):
    """Serves the last report."""

    tag = "service"

    bookmarks: Bookmarks

    @route("getRecount", "GET", PATH, Permission.SYSTEM)
    def get(self, request: Request) -> RecountState:
        """Return the last recount of all nominal times."""
        del request
        marks = self.bookmarks.read(BOOKMARK)
        last, begun = last_report(marks), begun_report(marks)
        return RecountState(last=last and _view(last), begun_at=begun and begun.began_at)


def _view(report: RecountReport) -> RecountView:
    return RecountView(
        began_at=report.began_at,
        ended_at=report.ended_at or report.began_at,
        since=report.since,
        until=report.until,
        jobs=report.jobs,
        left_out=report.left_out,
        unread=list(report.unread),
        times=AccountsView(**report.times),
        one_shots=AccountsView(**report.one_shots),
        found=report.found,
        findings=[FindingView.model_validate(found) for found in report.findings],
    )
