"""Route of a draft: what a registration would do, as a preview that changes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Body
from aws_lambda_powertools.event_handler.request import Request

from duetime.api.background_jobs import jobs_page
from duetime.api.context import JOBS, ApiRoutes, caller_at, reader_at
from duetime.api.definition_views import DefinitionView, changes_between
from duetime.api.draft_views import DraftCadenceView, DraftView, MinuteLoadView
from duetime.api.job_payloads import handler_for, payload_of
from duetime.api.job_prices import price_of
from duetime.api.job_requests import DraftRequest
from duetime.api.parameters import LARGEST_PAGE
from duetime.api.registrations import registration_of
from duetime.api.routes import route
from duetime.api.time_views import PreviewedView
from duetime.declare.job_rules import read_cadences
from duetime.declare.timed_cadences import has_times
from duetime.errors import InvalidPayload, UnknownType
from duetime.jobs.minute_load import load_beside
from duetime.model.job import Job
from duetime.model.permissions import Permission
from duetime.payload import Payload

_RUNS = 10
"""The next runs of each cadence that are shown."""


class JobDraftRoutes(ApiRoutes):
    """Serves previews of registrations."""

    tag = "jobs"

    @route("draftJob", "POST", f"{JOBS}/draft", Permission.MANAGE_JOBS)
    def draft(self, body: Annotated[DraftRequest, Body()], request: Request) -> DraftView:
        """Return what registering the job would do, and change nothing.

        Its next runs, what changes of the clocks do to them, the load beside other jobs, its price, and what
        differs from the job that it replaces. A wrong type, payload or name is one of the problems; a cadence
        that cannot be read is an error (400).
        """
        handler, unpaid = self._handler(body, request)
        jobs = self.api.scheduler(request).jobs
        drafted = jobs.draft(registration_of(body.name, handler, body, replace=body.replace))
        before, job, redactor = drafted.before, drafted.after, reader_at(self.api, request)
        now = self.api.clock.now()
        upcoming = [due.at for due in islice(job.cadence_set.after(now), _RUNS)]
        page = jobs_page(self.api, request, LARGEST_PAGE, None)
        others = [other for other in page if other.ref != job.ref and other.removed_at is None]
        price = price_of(job, now)
        return DraftView(
            name=body.name,
            problems=[*unpaid, *drafted.problems],
            is_new=before is None,
            version=job.version,
            changes_plan=before is not None and job.version != before.version,
            changes=[]
            if before is None
            else list(changes_between(before.definition, job.definition, redactor)),
            definition=DefinitionView.from_definition(job.definition, redactor),
            cadences=list(_cadences(job, now)),
            runs_per_day=price.runs_per_day,
            dollars_per_month=price.dollars_per_month,
            load=[MinuteLoadView.model_validate(load) for load in load_beside(upcoming, others)],
            load_jobs=len(others),
            load_is_complete=page.cursor is None,
        )

    def _handler(self, body: DraftRequest, request: Request) -> tuple[Payload | str, Sequence[str]]:
        """Return what the job runs, and what is wrong with that."""
        is_operator = Permission.SYSTEM in caller_at(request).permissions
        try:
            handler = handler_for(self.api.app, body.type, is_operator=is_operator)
            if body.payload is None and not has_times(read_cadences(body.cadences)):
                return body.type, ()
            return payload_of(handler, body.payload) or body.type, ()
        except InvalidPayload as refused:
            return body.type, [str(refused)]
        except UnknownType as refused:
            return body.type, [str(refused)]


def _cadences(job: Job, now: datetime) -> Iterator[DraftCadenceView]:
    from duetime.cadence import Preview, local_occurrences  # noqa: PLC0415 - it needs cron, as few routes do

    for cadence in job.cadence_set.cadences:
        shown = list(islice(local_occurrences(cadence, now), _RUNS))
        preview = Preview.from_occurrences(cadence, shown, now, None)
        yield DraftCadenceView(
            name=cadence.name,
            text=cadence.text,
            words=cadence.describe(),
            tz=cadence.tz,
            next_runs=[PreviewedView.model_validate(occurrence) for occurrence in preview.occurrences],
            changes=[PreviewedView.model_validate(change) for change in preview.changes],
            notes=list(preview.notes),
            disagreements=list(preview.disagreements),
        )
