"""Routes that read jobs, their runs and their occurrences."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.request import Request
from pydantic import BeforeValidator, Field

from duetime import ids, instant
from duetime.api.context import JOBS, ApiContext, reader_at
from duetime.api.errors import Flaw, InvalidRequest
from duetime.api.filters import StatusFilter
from duetime.api.job_search import JobCountsView, JobSearch, JobState, named
from duetime.api.job_views import NO_PRICE, JobSummary, JobView, price_of
from duetime.api.parameters import LARGEST_PAGE, Start, Until, instant_of
from duetime.api.preconditions import etag_of_job
from duetime.api.requests import read_time
from duetime.api.routes import RouteGroup, route
from duetime.api.views import Instant, PageView, RunPage, RunSummary, View, answer, payload_fields, shows
from duetime.errors import InvalidArgument, InvalidCursor
from duetime.jobs.occurrence_status import Occurrence
from duetime.model.action import Action
from duetime.model.content_filter import LONGEST_TEXT
from duetime.model.deadline import DeadlineState
from duetime.model.job import Job
from duetime.model.permissions import Permission
from duetime.ports.jobs import JobPage as LookedUp

_READ = Permission.READ_JOBS
JobNameText = Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT)]
MOST_OCCURRENCES = 500
MOST_RECENT, MOST_WITH_RUNS = 20, 25
DAY = timedelta(days=1)
_PLANNED = 50
"""The most future rows that are searched for skipped occurrences."""


@shows(
    Occurrence,
    "at until count tz cadences version account reason note action_id deadline_at",
)
class OccurrenceView(View):
    """One nominal time and what became of it; or several in a row, without runs, that share it."""

    local: Annotated[str, BeforeValidator(datetime.isoformat)]
    """What the wall clock of the cadence's zone shows then."""
    deadline: DeadlineState | None
    """The state of that."""


class OccurrencePage(View):
    """The accounts of a window, in order; `next_from` is null at its end, else where to go on."""

    items: list[OccurrenceView]
    """In order of time."""
    next_from: Instant | None
    """Say it as `from` to go on; null at the window's end."""


class JobPageView(PageView):
    """A page of jobs; `next_cursor` is null on the last one."""

    items: list[JobSummary]
    """At most `limit`, by name."""
    compared: int | None = None
    """How many jobs were compared with `q` and `state`, one by one; null without these."""


class BackgroundJobs(RouteGroup):
    """Serves the jobs of the caller's tenant, and code's jobs to operators."""

    tag = "jobs"

    @route("listJobs", "GET", JOBS, _READ)
    def list(
        self,
        request: Request,
        *,
        limit: Annotated[int, Query(ge=1, le=LARGEST_PAGE)] = 50,
        cursor: Annotated[str | None, Query()] = None,
        runs: Annotated[
            int, Query(ge=0, le=MOST_RECENT, description="the number of recent runs in each job")
        ] = 0,
        q: Annotated[
            str, Query(max_length=LONGEST_TEXT, description="a text in the name, the title or the category")
        ] = "",
        state: Annotated[JobState | None, Query(description="only declared jobs in this state")] = None,
        name: Annotated[
            list[JobNameText] | None,
            Query(max_length=MOST_WITH_RUNS, description="only the jobs with these names, on one page"),
        ] = None,
        prices: Annotated[bool, Query(description="whether each job has its price")] = False,
    ) -> JobPageView:
        """Return a page of jobs by name, code's jobs first; with `runs` the last runs of each.

        `runs` costs one more query for each job; for a job with event triggers seventeen. A page then has at
        most 25 jobs. With `q` or `state`, a request compares up to 1,000 jobs: a page may be short or empty,
        while `next_cursor` leads on to more.
        """
        most = min(limit, MOST_WITH_RUNS) if runs else limit
        if name is not None:
            _refuse_beside_names(q, state, cursor)
            jobs, following, compared = named(self.api, request, name), None, None
        elif q.strip() or state is not None:
            _refuse_made_up(cursor)
            jobs, compared, following = JobSearch(self.api, request)(q, state, limit=most, cursor=cursor)
        else:
            page = jobs_page(self.api, request, most, cursor)
            jobs, following, compared = [*page], page.cursor, None
        now = self.api.clock.now()
        items = [
            JobSummary.in_list(
                job,
                now,
                self._recent(job, now, runs) if runs else None,
                price_of(job, now) if prices else NO_PRICE,
            )
            for job in jobs
        ]
        return JobPageView(items=items, next_cursor=following, compared=compared)

    @route("countJobs", "GET", f"{JOBS}/counts", _READ)
    def counts(self, request: Request) -> JobCountsView:
        """Return how many jobs are failing, retrying, paused and running.

        Of more than 1,000 jobs the first ones are counted, by name.
        """
        return JobSearch(self.api, request).counts()

    def _recent(self, job: Job, now: datetime, limit: int) -> Iterable[Action]:
        """Return the job's last runs, without future runs: an event-triggered job lists both."""
        has_events = bool(job.cadence_set.triggers)
        to_come = ids.occurrence_id(job.name, job.version, now + timedelta(seconds=1))
        page = self.api.store.of_job(
            job.ref.tenant_id,
            job.name,
            limit=limit,
            cursor=None if has_events else to_come,
            has_events=has_events,
        )
        return (run for run in page if run.nominal_at <= now)

    @route("getJob", "GET", f"{JOBS}/<name>", _READ, header="ETag")
    def get(self, name: str, request: Request) -> Response[JobView]:
        """Return the job with its next runs."""
        job = self.api.scheduler(request).jobs.get(name)
        return answer(job_view(self.api, job, request), ETag=etag_of_job(job))

    @route("listJobRuns", "GET", f"{JOBS}/<name>/runs", _READ)
    def runs(
        self,
        name: str,
        request: Request,
        *,
        limit: Annotated[int, Query(ge=1, le=LARGEST_PAGE)] = 50,
        cursor: Annotated[str | None, Query()] = None,
        status: Annotated[StatusFilter | None, Query()] = None,
        start: Start = None,
        until: Until = None,
    ) -> RunPage:
        """Return a page of the job's runs, newest first, triggered ones with their payloads.

        `status`, `from` and `until` filter the page that was read: it may be shorter than `limit`, or empty,
        while
        `next_cursor` leads on to more.
        """
        page = self.api.scheduler(request).jobs.history(
            name,
            status=status,
            nominal_after=None if start is None else read_time(start, "from"),
            nominal_until=None if until is None else read_time(until, "until"),
            limit=limit,
            cursor=cursor,
        )
        reader = reader_at(self.api, request)
        items = [RunSummary.of(run, **payload_fields(reader.of_action(run))) for run in page]
        return RunPage(items=items, next_cursor=page.cursor, includes_runs=True)

    @route("explainJob", "GET", f"{JOBS}/<name>/occurrences", _READ)
    def occurrences(
        self,
        name: str,
        request: Request,
        start: Start = None,
        until: Until = None,
        limit: Annotated[int, Query(ge=1, le=MOST_OCCURRENCES)] = 100,
    ) -> OccurrencePage:
        """Return the status of each nominal time after `from`, up to `until`, and its reason.

        The default window is from a day ago until a day ahead. Adjacent times without a run and with equal
        status are one entry.
        """
        now = self.api.clock.now()
        found = self.api.scheduler(request).jobs.explain(
            name, instant_of(start, "from", now, -DAY), instant_of(until, "until", now, DAY), limit=limit
        )
        return OccurrencePage(
            items=[OccurrenceView.of(occurrence) for occurrence in found],
            next_from=found.next_start,
        )


def _refuse_beside_names(q: str, state: JobState | None, cursor: str | None) -> None:
    """Reject what selects jobs beside their names.

    Raises:
        InvalidRequest: with each of these.
    """
    beside = {"q": q, "state": state, "cursor": cursor}
    flaws = [Flaw(field, "must not be beside name") for field, value in beside.items() if value]
    if flaws:
        raise InvalidRequest(flaws)


def jobs_page(api: ApiContext, request: Request, limit: int, cursor: str | None) -> LookedUp:
    """Return a page of the jobs that a caller sees.

    Raises:
        InvalidCursor: the cursor is none of this list.
    """
    _refuse_made_up(cursor)
    return api.scheduler(request).jobs.list(limit=limit, cursor=cursor)


def _refuse_made_up(cursor: str | None) -> None:
    """A cursor of this list ends with a job's name, or with nothing where the tenant's own jobs begin."""
    if cursor is None:
        return
    kind, _, name = cursor.partition(" ")
    try:
        if name or not kind:
            ids.job_name(name)
    except InvalidArgument:
        raise InvalidCursor from None


def job_view(api: ApiContext, job: Job, request: Request) -> JobView:
    """Return the full view of a job; its next runs exclude skipped occurrences."""
    now = api.clock.now()
    return JobView.in_full(job, now, _skipped_ahead(api, job, now), reader_at(api, request).of_job(job))


def _skipped_ahead(api: ApiContext, job: Job, now: datetime) -> list[datetime]:
    page = api.store.occurrences(
        job.ref.tenant_id,
        job.name,
        job.version,
        after=now,
        until=instant.LATEST,
        limit=_PLANNED,
        cursor=None,
    )
    return [ids.nominal_at(run.id) for run in page if run.status.is_final and not ids.is_beside_plan(run.id)]
