"""Look a job up: its row, its runs, and the status of its nominal times."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from duetime import ids, instant
from duetime.errors import InvalidCursor, InvalidIdentifier, JobNotFound
from duetime.ids import SYSTEM_TENANT
from duetime.instant import When
from duetime.jobs.tenant_context import TenantContext
from duetime.model.action import Status
from duetime.model.job import Job, JobRef, Origin
from duetime.model.selection import RunSelection, check_limit
from duetime.ports.actions import Page
from duetime.ports.jobs import JobPage, JobStore

if TYPE_CHECKING:
    from duetime.jobs.explain import Explanation

_OURS, _THEIRS = "own ", "system "


class JobLookup:
    """Reads the jobs of one tenant, and those that code declares."""

    def __init__(self, context: TenantContext, jobs: JobStore) -> None:
        self._context, self._actions, self._jobs = context, context.store, jobs

    def get(self, name: str) -> Job:
        """Return a job; see `Jobs.get`."""
        for ref in self._refs(name):
            job = self._jobs.get(ref)
            if job is not None and not (job.origin is Origin.RUNTIME and job.removed_at):
                return job
        raise JobNotFound(name)

    def list(self, limit: int, cursor: str | None) -> JobPage:
        """Return a page of jobs; see `Jobs.list`."""
        check_limit(limit)
        sees_system = self._context.sees_system
        start = cursor or (_THEIRS if sees_system else _OURS)
        of_system = start.startswith(_THEIRS) and sees_system
        if not of_system and not start.startswith(_OURS):
            raise InvalidCursor
        kind, tenant = (_THEIRS, SYSTEM_TENANT) if of_system else (_OURS, self._context.tenant_id)
        after = start.removeprefix(kind)
        if after and not ids.is_job_name(after):
            raise InvalidCursor
        page = self._jobs.list(tenant, limit=limit, cursor=after or None)
        shown = tuple(job for job in page if job.origin is Origin.CODE or not job.removed_at)
        following = kind + page.cursor if page.cursor else _OURS if of_system else None
        if of_system and page.cursor is None and len(shown) < limit:
            rest = self._own(limit - len(shown))
            return JobPage(shown + rest.jobs, rest.cursor)
        return JobPage(shown, following)

    def history(
        self,
        name: str,
        *,
        status: Status | str | Collection[Status | str] | None,
        nominal_after: When | None,
        nominal_until: When | None,
        limit: int,
        cursor: str | None,
    ) -> Page:
        """Return a page of a job's runs; see `Jobs.history`."""
        check_limit(limit)
        now = self._context.clock.now()
        selection = RunSelection.parse(status, nominal_after, nominal_until, now)
        job = self._known(name)
        page = self._actions.of_job(
            job.ref.tenant_id,
            job.name,
            limit=limit,
            cursor=cursor,
            has_events=bool(job.stacked.triggers),
        )
        return Page(tuple(filter(selection.admits, page)), page.cursor)

    def explain(self, name: str, start: When, end: When, limit: int) -> Explanation:
        """Return the status of each nominal time; see `Jobs.explain`."""
        from duetime.jobs.explain import Explain  # noqa: PLC0415 - most callers do not need it

        clock, settings = self._context.clock, self._context.settings
        explain = Explain(
            self._actions,
            self._jobs,
            clock=clock,
            retention=settings.retention,
            job_grace=settings.job_grace,
        )
        now = clock.now()
        bounds = instant.resolve(start, now=now), instant.resolve(end, now=now)
        return explain(self._known(name).ref, *bounds, limit=limit)

    def _own(self, limit: int) -> JobPage:
        page = self._jobs.list(self._context.tenant_id, limit=limit, cursor=None)
        cursor = _OURS + page.cursor if page.cursor else None
        return JobPage(tuple(job for job in page if not job.removed_at), cursor)

    def _known(self, name: str) -> Job:
        """Return a job, or an unregistered one, whose history remains."""
        for ref in self._refs(name):
            if job := self._jobs.get(ref):
                return job
        raise JobNotFound(name)

    def _refs(self, name: str) -> Sequence[JobRef]:
        try:
            checked = ids.job_name(name)
        except InvalidIdentifier:
            raise JobNotFound(name) from None
        own = self._context.tenant_id
        tenants = (SYSTEM_TENANT, own) if self._context.sees_system else (own,)
        return [JobRef(tenant, checked) for tenant in tenants]
