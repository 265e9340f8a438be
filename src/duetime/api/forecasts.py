"""Routes of forecasts: the upcoming runs of a page of jobs, and the minutes in which many jobs begin."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice, takewhile
from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.request import Request

from duetime.api.background_jobs import DAY, jobs_page
from duetime.api.context import JOBS
from duetime.api.errors import Flaw, InvalidRequest
from duetime.api.parameters import LARGEST_PAGE, instant_of
from duetime.api.routes import RouteGroup, route
from duetime.api.views import Instant, PageView, View, shows
from duetime.jobs.crowded_minutes import Crowd, HourPeak, forecast
from duetime.jobs.upcoming import upcoming
from duetime.model.built_in import RESERVED
from duetime.model.job import Job
from duetime.model.permissions import Permission

FARTHEST = timedelta(days=7)
"""The longest window, and the span of the load."""

MOST_TOLD, MOST_COUNTED = 200, 1_000
"""The most times of a job that are listed, and that are counted."""

_MOST_JOBS, _MOST_MINUTES = 1_000, 100_000
"""The most jobs that are read, and the most minutes that are computed: three seconds of CPU at most."""

_MOST_CROWDS, _MOST_NAMES = 20, 50


class ComingView(View):
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


class ComingPage(PageView):
    """The upcoming times of a page of jobs; `next_cursor` is null on the last page."""

    items: list[ComingView]
    """At most `limit`, by name; jobs that are no longer declared are left out."""
    requested_at: Instant
    """The start of the window."""
    until: Instant
    """The end of the window."""


@shows(HourPeak, "at begins peak_at peak")
class LoadHourView(View):
    """The load of an hour."""


@shows(Crowd, "at times")
class CrowdView(View):
    """Jobs that begin in the same minutes."""

    begin: int
    """How many jobs begin in it."""
    jobs: list[str]
    """The first 50 of them."""
    over: int
    """How many of the jobs are beyond the capacity; 0 if all begin at once."""


class LoadForecastView(View):
    """The load of the next seven days, by the jobs that begin in each minute."""

    requested_at: Instant
    """The start of the span."""
    until: Instant
    """The end of the span."""
    capacity: int
    """How many jobs may begin in a minute: the calls that a worker handles at once, for runs of a minute."""
    jobs: int
    """How many jobs were counted."""
    is_complete: bool
    """Whether these are all that the caller sees; otherwise the first ones by name."""
    minutes_over: int
    """In how many minutes more jobs begin than the capacity."""
    hours: list[LoadHourView]
    """The hours in which a job begins, in order."""
    crowds: list[CrowdView]
    """The 20 largest sets of two jobs or more that begin in one minute, the largest first."""


class Forecasts(RouteGroup):
    """Serves the times to come of the tenant's jobs, and of code's jobs to operators."""

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
        ] = 50,
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
        items = [_coming(job, now, last, most) for job in page if job.removed_at is None]
        return ComingPage(items=items, requested_at=now, until=last, next_cursor=page.cursor)

    @route("forecastLoad", "GET", f"{JOBS}/load", Permission.READ_JOBS)
    def load(
        self,
        request: Request,
        capacity: Annotated[
            int | None,
            Query(ge=1, le=10_000, description="by default the deployment's `worker_concurrency`"),
        ] = None,
    ) -> LoadForecastView:
        """Return in which minutes of the next seven days many jobs begin, and the peak of each hour.

        Pauses are respected. At most 1,000 jobs and 100,000 minutes are counted; `is_complete` is false if
        there are more. Triggered runs, retries, one-shots and duetime's own jobs are not in it.
        """
        now = self.api.clock.now()
        until, limit = now + FARTHEST, capacity or self.api.worker_concurrency
        jobs = list(self._jobs(request))
        found = forecast(jobs[:_MOST_JOBS], now, until, most_minutes=_MOST_MINUTES)
        minutes = found.minutes
        return LoadForecastView(
            requested_at=now,
            until=until,
            capacity=limit,
            jobs=minutes.jobs,
            is_complete=found.is_complete and len(jobs) <= _MOST_JOBS,
            minutes_over=minutes.minutes_above(limit),
            hours=[LoadHourView.of(hour) for hour in minutes.hours()],
            crowds=[_crowd(crowd, limit) for crowd in minutes.crowds(above=1, most=_MOST_CROWDS)],
        )

    def _jobs(self, request: Request) -> Iterator[Job]:
        """Yield the declared jobs without duetime's own, and some beyond those counted, if there are any."""
        cursor, count = None, 0
        while count <= _MOST_JOBS:
            page = jobs_page(self.api, request, LARGEST_PAGE, cursor)
            found = [job for job in page if job.removed_at is None and not job.name.startswith(RESERVED)]
            count += len(found)
            yield from found
            cursor = page.cursor
            if cursor is None:
                return


def _coming(job: Job, now: datetime, last: datetime, most: int) -> ComingView:
    times = takewhile(lambda at: at <= last, (due.at for due in upcoming(job, now)))
    counted = list(islice(times, MOST_COUNTED + 1))
    return ComingView.of(
        job,
        job.definition,
        job.ref,
        times=counted[:most],
        count=min(len(counted), MOST_COUNTED),
        more=len(counted) > MOST_COUNTED,
    )


def _crowd(crowd: Crowd, capacity: int) -> CrowdView:
    begin = len(crowd.jobs)
    return CrowdView.of(crowd, begin=begin, jobs=crowd.jobs[:_MOST_NAMES], over=max(begin - capacity, 0))
