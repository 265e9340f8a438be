"""The route of the recount: the last report on all nominal times, for operators."""

from __future__ import annotations

from aws_lambda_powertools.event_handler.request import Request

from duetime.api.routes import RouteGroup, route
from duetime.api.views import Instant, View, shows
from duetime.model.permissions import Permission
from duetime.model.recount import BOOKMARK, Finding, RecountReport, begun_report, last_report


class AccountsView(View):
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


@shows(Finding, "problem tenant_id job version at action_id")
class FindingView(View):
    """A nominal time of a job, or a one-shot, without a proper result."""


@shows(RecountReport, "began_at since until jobs left_out unread found")
class RecountView(View):
    """The report of a recount."""

    ended_at: Instant
    """When it ended."""
    times: AccountsView
    """The nominal times by their result."""
    one_shots: AccountsView
    """The sampled one-shots by their result."""
    findings: list[FindingView]
    """The first 100 of them."""


class RecountState(View):
    """The last recount, and whether another one has begun."""

    last: RecountView | None
    """Null before the first one has ended."""
    begun_at: Instant | None
    """When the present one began, whose rest a later catch-up recounts; null without one."""


class RecountRoutes(RouteGroup):
    """Serves the last report."""

    tag = "service"

    @route("getRecount", "GET", "/recount", Permission.SYSTEM)
    def get(self, request: Request) -> RecountState:
        """Return the last recount of all nominal times."""
        del request
        marks = self.health.bookmarks.read(BOOKMARK)
        last, begun = last_report(marks), begun_report(marks)
        return RecountState(last=last and _view(last), begun_at=begun and begun.began_at)


def _view(report: RecountReport) -> RecountView:
    return RecountView.of(
        report,
        ended_at=report.ended_at or report.began_at,
        times=AccountsView(**report.times),
        one_shots=AccountsView(**report.one_shots),
        findings=[FindingView.of(found) for found in report.findings],
    )
