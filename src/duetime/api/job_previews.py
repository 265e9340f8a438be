"""Previews, which change nothing: the times of a cadence, and what a registration would do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Body, Query
from aws_lambda_powertools.event_handler.request import Request
from pydantic import BeforeValidator

from duetime.api.background_jobs import MOST_OCCURRENCES, jobs_page
from duetime.api.context import JOBS, reader_at
from duetime.api.job_definitions import DefinitionView, FieldChangeView, changes_between, definition_view
from duetime.api.job_operations import runs_of
from duetime.api.job_requests import LONGEST_CADENCE, DraftRequest
from duetime.api.job_views import JobPrice, price_of
from duetime.api.parameters import LARGEST_PAGE, Start, Until, instant_of
from duetime.api.routes import RouteGroup, route
from duetime.api.views import Instant, View, shows
from duetime.cadence import Cadence, Interval, local_occurrences, parse
from duetime.cadence.explain import LocalOccurrence
from duetime.errors import InvalidPayload, UnknownType
from duetime.jobs.crowded_minutes import MinuteLoad, load_beside
from duetime.model.job import Job
from duetime.model.permissions import Permission
from duetime.payload import Payload


class PreviewedView(View):
    """One occurrence of a cadence, or a gap of the clocks that swallowed some."""

    at: Instant | None
    """The instant; null for what a gap swallowed."""
    local: Annotated[str, BeforeValidator(datetime.isoformat)]
    """What the wall clock shows then, or would have shown."""
    mark: str | None
    """What a change of the clocks did: ``moved``, ``skipped``, ``doubled`` or ``once``."""
    note: str
    """What that change did, as a sentence; may be empty."""


class PreviewView(View):
    """A cadence's times, and the other output of `duetime preview`."""

    cadence: str
    """Its text, in the normal form."""
    name: str
    """Its name within the job."""
    words: str
    """The same as a sentence."""
    tz: str
    """The zone of the local times."""
    occurrences: list[PreviewedView]
    """In order of time."""
    is_cut: bool
    """Whether the requested window has more."""
    changes: list[PreviewedView]
    """What changes of the clocks do within a year of the last one shown; empty if `until` is given."""
    notes: list[str]
    """What is right and may be meant otherwise, a sentence each."""
    disagreements: list[str]
    """Where croniter sees a cron expression's times otherwise, a sentence each."""
    second_opinion: str | None
    """Whether croniter agrees, or why it was not compared; null if the text is no cron expression."""


class DraftCadenceView(View):
    """A cadence of a draft."""

    name: str
    """Its name within the job."""
    text: str
    """Its text, in the normal form."""
    words: str
    """The same as a sentence."""
    tz: str
    """The zone of the local times."""
    next_runs: list[PreviewedView]
    """The next times, and what changes of the clocks do to them."""
    changes: list[PreviewedView]
    """What changes of the clocks do within a year of the last one shown."""
    notes: list[str]
    """What is right and may be meant otherwise, a sentence each."""
    disagreements: list[str]
    """Where croniter sees a cron expression's times otherwise, a sentence each."""


@shows(MinuteLoad, "at runs jobs")
class MinuteLoadView(View):
    """The runs of other jobs in the minute of one of the draft's runs."""


@shows(JobPrice, "runs_per_day dollars_per_month")
class DraftView(View):
    """What a registration would do, and why it would be rejected."""

    name: str
    """The job's name."""
    problems: list[str]
    """The reasons for which it would be rejected; none if it can be registered."""
    is_new: bool
    """Whether the tenant has no job of this name."""
    version: int
    """The version that the job would have."""
    changes_plan: bool
    """Whether a new version begins: planned runs of the former one are skipped, and planned again."""
    changes: list[FieldChangeView]
    """What differs from the present definition; none for a new job."""
    definition: DefinitionView
    """What would be stored; its payload is null while it is not valid."""
    cadences: list[DraftCadenceView]
    """When it would run."""
    load: list[MinuteLoadView]
    """The minutes of the next runs in which other jobs run, too."""
    load_jobs: int
    """How many other jobs were read for that."""
    load_is_complete: bool
    """Whether these are all that the caller sees."""


_RUNS = 10
"""The next runs of each cadence that are shown, unless the request has a number."""


class JobPreviews(RouteGroup):
    """Serves previews of cadences and of registrations."""

    tag = "jobs"

    @route("previewCadence", "GET", f"{JOBS}/preview", Permission.READ_JOBS)
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
        most = count or (_RUNS if last is None else MOST_OCCURRENCES)
        anchored = _anchored(read, after)
        shown = list(islice(local_occurrences(anchored, after, last), most + 1))
        preview = Preview.from_occurrences(read, shown[:most], after, last)
        return PreviewView.of(
            preview,
            read,
            cadence=read.text,
            words=read.describe(),
            occurrences=_previewed(preview.occurrences),
            changes=_previewed(preview.changes),
            is_cut=last is not None and len(shown) > most,
        )

    @route("draftJob", "POST", f"{JOBS}/draft", Permission.MANAGE_JOBS)
    def draft(self, body: Annotated[DraftRequest, Body()], request: Request) -> DraftView:
        """Return what registering the job would do, and change nothing.

        Its next runs, what changes of the clocks do to them, the load beside other jobs, its price, and what
        differs from the job that it replaces. A wrong type, payload or name is one of the problems; a cadence
        that cannot be read is an error (400).
        """
        handler, flaws = self._runs(body, request)
        jobs = self.api.scheduler(request).jobs
        drafted = jobs.draft(body.registration(body.name, handler, replace=body.replace))
        before, job, redactor = drafted.before, drafted.after, reader_at(self.api, request)
        now = self.api.clock.now()
        upcoming = [due.at for due in islice(job.cadence_set.after(now), _RUNS)]
        page = jobs_page(self.api, request, LARGEST_PAGE, None)
        others = [other for other in page if other.ref != job.ref and other.removed_at is None]
        return DraftView.of(
            price_of(job, now),
            job,
            name=body.name,
            problems=[*flaws, *drafted.problems],
            is_new=before is None,
            changes_plan=before is not None and job.version != before.version,
            changes=list(changes_between(before.definition, job.definition, redactor)) if before else [],
            definition=definition_view(job.definition, redactor),
            cadences=list(_cadences(job, now)),
            load=[MinuteLoadView.of(load) for load in load_beside(upcoming, others)],
            load_jobs=len(others),
            load_is_complete=page.cursor is None,
        )

    def _runs(self, body: DraftRequest, request: Request) -> tuple[Payload | str, Sequence[str]]:
        """Return what the job runs, and what is wrong with that."""
        try:
            return runs_of(self.api, body, request), ()
        except (InvalidPayload, UnknownType) as refused:
            return body.type, [str(refused)]


def _cadences(job: Job, now: datetime) -> Iterator[DraftCadenceView]:
    from duetime.cadence import Preview  # noqa: PLC0415 - it needs cron, as few routes do

    for cadence in job.cadence_set.cadences:
        shown = list(islice(local_occurrences(cadence, now), _RUNS))
        preview = Preview.from_occurrences(cadence, shown, now, None)
        yield DraftCadenceView.of(
            preview,
            cadence,
            words=cadence.describe(),
            next_runs=_previewed(preview.occurrences),
            changes=_previewed(preview.changes),
        )


def _previewed(occurrences: Iterable[LocalOccurrence]) -> list[PreviewedView]:
    return [PreviewedView.of(occurrence, note=occurrence.words) for occurrence in occurrences]


def _anchored(cadence: Cadence, start: datetime) -> Cadence:
    """An interval counts from its job's first day; one of no job from where the preview begins."""
    if isinstance(cadence, Interval) and cadence.start is None:
        return cadence.starting(start)
    return cadence
