"""Routes that read jobs: their definitions, runs and occurrences, and previews of cadences."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from http import HTTPStatus
from itertools import islice
from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.request import Request
from pydantic import Field

from duetime import ids, instant
from duetime.api.context import JOBS, ApiContext, ApiRoutes, reader_at
from duetime.api.errors import Flaw, InvalidRequest
from duetime.api.filters import StatusFilter
from duetime.api.job_prices import price_of
from duetime.api.job_requests import LONGEST_CADENCE
from duetime.api.job_search import JobSearch, JobState, named
from duetime.api.job_views import JobPageView, JobSummary, JobView
from duetime.api.parameters import LARGEST_PAGE, Start, Until, instant_of
from duetime.api.preconditions import etag_of_job
from duetime.api.requests import read_time
from duetime.api.routes import route
from duetime.api.time_views import OccurrencePage, OccurrenceView, PreviewedView, PreviewView
from duetime.api.views import RunPage, RunSummary
from duetime.cadence import Cadence, Interval, local_occurrences, parse
from duetime.errors import InvalidCursor, InvalidIdentifier
from duetime.model.action import Action
from duetime.model.content_filter import LONGEST_TEXT
from duetime.model.job import Job
from duetime.model.permissions import Permission
from duetime.ports.jobs import JobPage as LookedUp

_READ = Permission.READ_JOBS
JobNameText = Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT)]
MOST_OCCURRENCES = 500
MOST_RECENT, MOST_WITH_RUNS = 20, 25
DAY = timedelta(days=1)
_COUNT = 10
_PLANNED = 50
"""The most future rows that are searched for skipped occurrences."""


class BackgroundJobs(ApiRoutes):
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
            JobSummary.from_job(
                job,
                now,
                self._recent(job, now, runs) if runs else None,
                price_of(job, now) if prices else None,
            )
            for job in jobs
        ]
        return JobPageView(items=items, next_cursor=following, compared=compared)

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
        headers = {"ETag": etag_of_job(job)}
        return Response(HTTPStatus.OK, "application/json", job_view(self.api, job, request), headers=headers)

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
        items = [RunSummary.from_run(run, reader.of_action(run)) for run in page]
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
            items=[OccurrenceView.model_validate(occurrence) for occurrence in found],
            next_from=found.next_start,
        )

    @route("previewCadence", "GET", f"{JOBS}/preview", _READ)
    def preview(
        self,
        cadence: Annotated[str, Query(max_length=LONGEST_CADENCE)],
        start: Start = None,
        until: Until = None,
        count: Annotated[int | None, Query(ge=1, le=MOST_OCCURRENCES)] = None,
    ) -> PreviewView:
        """Return a cadence's next `count` times after `from`, or those up to `until`, and DST changes.

        Without `until` also what they do within a year of the last time shown; beside it what may surprise,
        and whether
        croniter agrees.
        """
        from duetime.cadence import Preview  # noqa: PLC0415 - it needs cron, which no other route does

        now, default_tz = self.api.clock.now(), self.api.settings.default_tz
        after = instant_of(start, "from", now)
        last = None if until is None else instant_of(until, "until", now)
        read = parse(cadence).with_default_tz(default_tz) if default_tz else parse(cadence)
        most = count or (_COUNT if last is None else MOST_OCCURRENCES)
        anchored = _anchored(read, after)
        shown = list(islice(local_occurrences(anchored, after, last), most + 1))
        preview = Preview.from_occurrences(anchored, shown[:most], after, last)
        return PreviewView(
            cadence=read.text,
            name=read.name,
            words=read.describe(),
            tz=read.tz,
            occurrences=[PreviewedView.model_validate(occurrence) for occurrence in preview.occurrences],
            is_cut=last is not None and len(shown) > most,
            changes=[PreviewedView.model_validate(change) for change in preview.changes],
            notes=list(preview.notes),
            disagreements=list(preview.disagreements),
            second_opinion=preview.second_opinion,
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
    except InvalidIdentifier:
        raise InvalidCursor from None


def _anchored(cadence: Cadence, start: datetime) -> Cadence:
    """An interval counts from its job's first day; one of no job from where the preview begins."""
    if isinstance(cadence, Interval) and cadence.start is None:
        return cadence.starting(start)
    return cadence


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
