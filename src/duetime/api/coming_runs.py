"""Route of upcoming runs: the next times of a page of jobs, computed from their rows alone."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import islice, takewhile
from typing import Annotated, Self

from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.request import Request

from duetime.api.api_model import ApiModel
from duetime.api.background_jobs import DAY, jobs_page
from duetime.api.context import JOBS, ApiRoutes
from duetime.api.errors import Flaw, InvalidRequest
from duetime.api.parameters import LARGEST_PAGE, instant_of
from duetime.api.routes import route
from duetime.api.views import Instant
from duetime.jobs.upcoming import upcoming
from duetime.model.job import Job
from duetime.model.permissions import Permission

FARTHEST = timedelta(days=7)
"""The longest window."""

MOST_TOLD, MOST_COUNTED = 200, 1_000
"""The most times of a job that are listed, and that are counted."""

_TOLD = 50


class ComingView(ApiModel):
    """A job and its upcoming times."""

    name: str
    """Two or more kebab-case segments."""
    title: str
    """Its name for people; may be empty."""
    tenant_id: str
    """The tenant that owns it; ``system`` for code's."""
    times: list[Instant]
    """The first of them; none if nothing is due, or a pause covers all."""
    count: int
    """The number of times, up to a limit."""
    more: bool
    """Whether there are more times than were counted."""

    @classmethod
    def from_job(cls, job: Job, now: datetime, last: datetime, most: int) -> Self:
        """The job as a client sees it, with so many of its times."""
        times = takewhile(lambda at: at <= last, (due.at for due in upcoming(job, now)))
        counted = list(islice(times, MOST_COUNTED + 1))
        return cls(
            name=job.name,
            title=job.definition.title,
            tenant_id=job.ref.tenant_id,
            times=counted[:most],
            count=min(len(counted), MOST_COUNTED),
            more=len(counted) > MOST_COUNTED,
        )


class ComingPage(ApiModel):
    """The upcoming times of a page of jobs; `next_cursor` is null on the last page."""

    items: list[ComingView]
    """At most `limit`, by name; jobs that are no longer declared are left out."""
    requested_at: Instant
    """The start of the window."""
    until: Instant
    """The end of the window."""
    next_cursor: str | None
    """The cursor of the next page; null on the last one."""


class ComingRuns(ApiRoutes):
    """Serves the upcoming times of the tenant's jobs, and of code's jobs to operators."""

    tag = "jobs"

    @route("listComingRuns", "GET", f"{JOBS}/coming", Permission.READ_JOBS)
    def coming(
        self,
        request: Request,
        *,
        until: Annotated[
            str | None, Query(description="an ISO 8601 instant, at most 7 days ahead; a day ahead by default")
        ] = None,
        most: Annotated[
            int, Query(ge=1, le=MOST_TOLD, description="the number of times listed for each job")
        ] = _TOLD,
        limit: Annotated[int, Query(ge=1, le=LARGEST_PAGE)] = 50,
        cursor: Annotated[str | None, Query()] = None,
    ) -> ComingPage:
        """Return the upcoming times of each job in a page of the job list.

        Pauses are respected. The route reads the jobs' rows only. The times include occurrences that were
        skipped on request, and exclude triggered runs and runs that are already due.
        """
        now = self.api.clock.now()
        last = instant_of(until, "until", now, DAY)
        if not now < last <= now + FARTHEST:
            problem = f"must be an instant to come, at most {FARTHEST.days} days ahead"
            raise InvalidRequest([Flaw("until", problem)])
        page = jobs_page(self.api, request, limit, cursor)
        items = [ComingView.from_job(job, now, last, most) for job in page if job.removed_at is None]
        return ComingPage(items=items, requested_at=now, until=last, next_cursor=page.cursor)
