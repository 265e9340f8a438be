"""Route of the load forecast: in which minutes of the next week many jobs begin."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Annotated, Self

from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.request import Request

from duetime.api.api_model import ApiModel
from duetime.api.background_jobs import jobs_page
from duetime.api.context import JOBS, ApiRoutes
from duetime.api.parameters import LARGEST_PAGE
from duetime.api.routes import route
from duetime.api.views import Instant, View
from duetime.jobs.crowded_minutes import Crowd, forecast
from duetime.model.built_in import RESERVED
from duetime.model.job import Job
from duetime.model.permissions import Permission

SPAN = timedelta(days=7)

_MOST_JOBS, _MOST_MINUTES = 1_000, 100_000
"""The most jobs that are read, and the most minutes that are computed: three seconds of CPU at most."""

_MOST_CROWDS, _MOST_NAMES = 20, 50
_HIGHEST = 10_000


class LoadHourView(View):
    """The load of an hour."""

    at: Instant
    """The begin of the hour."""
    begins: int
    """How often a job begins in it, counted once a minute."""
    peak_at: Instant
    """Its first minute with the most jobs."""
    peak: int
    """How many jobs begin in that minute."""


class CrowdView(ApiModel):
    """Jobs that begin in the same minutes."""

    at: Instant
    """The first such minute."""
    begin: int
    """How many jobs begin in it."""
    jobs: list[str]
    """The first 50 of them."""
    times: int
    """How many minutes have the same jobs."""
    over: int
    """How many of the jobs are beyond the capacity; 0 if all begin at once."""

    @classmethod
    def from_crowd(cls, crowd: Crowd, capacity: int) -> Self:
        """Return the view of a crowd."""
        begin = len(crowd.jobs)
        return cls(
            at=crowd.at,
            begin=begin,
            jobs=list(crowd.jobs[:_MOST_NAMES]),
            times=crowd.times,
            over=max(begin - capacity, 0),
        )


class LoadForecastView(ApiModel):
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


class LoadForecastRoutes(ApiRoutes):
    """Serves the load of the tenant's jobs, and of code's jobs to operators."""

    tag = "jobs"

    @route("forecastLoad", "GET", f"{JOBS}/load", Permission.READ_JOBS)
    def load(
        self,
        request: Request,
        capacity: Annotated[
            int | None,
            Query(ge=1, le=_HIGHEST, description="by default the deployment's `worker_concurrency`"),
        ] = None,
    ) -> LoadForecastView:
        """Return in which minutes of the next seven days many jobs begin, and the peak of each hour.

        Pauses are respected. At most 1,000 jobs and 100,000 minutes are counted; `is_complete` is false if
        there are more. Triggered runs, retries, one-shots and duetime's own jobs are not in it.
        """
        now = self.api.clock.now()
        until, limit = now + SPAN, capacity or self.api.worker_concurrency
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
            hours=[LoadHourView.model_validate(hour) for hour in minutes.hours()],
            crowds=[
                CrowdView.from_crowd(crowd, limit) for crowd in minutes.crowds(above=1, most=_MOST_CROWDS)
            ],
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
