"""Look a job up: as it stands, its runs, and what became of its nominal times."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from duetime import ids, instant
from duetime.clock import Clock
from duetime.errors import InvalidCursor, InvalidIdentifier, JobNotFound
from duetime.ids import SYSTEM_TENANT, TenantId
from duetime.instant import When
from duetime.model.action import Status
from duetime.model.job import Job, JobRef, Origin
from duetime.model.selection import RunSelection, check_limit
from duetime.ports.actions import ActionStore, Page
from duetime.ports.jobs import JobPage, JobStore
from duetime.settings import Settings

if TYPE_CHECKING:
    from duetime.jobs.explain import Explanation

_OURS, _THEIRS = "own ", "system "


class JobLookup:
    """The jobs of one tenant, and those that code declares, as somebody looks at them."""

    def __init__(
        self,
        actions: ActionStore,
        jobs: JobStore,
        *,
        tenant_id: TenantId,
        clock: Clock,
        settings: Settings,
        sees_system: bool = True,
    ) -> None:
        self._actions, self._jobs = actions, jobs
        self._tenant_id, self._sees_system = tenant_id, sees_system
        self._clock, self._settings = clock, settings

    def get(self, name: str) -> Job:
        """The job as of now: this tenant's own, or code's.

        Raises:
            JobNotFound: there is none of that name.
        """
        for ref in self._refs(name):
            job = self._jobs.get(ref)
            if job is not None and not (job.origin is Origin.RUNTIME and job.removed_at):
                return job
        raise JobNotFound(name)

    def list(self, *, limit: int = 50, cursor: str | None = None) -> JobPage:
        """A page of jobs by name: code's first, dropped ones included, then this tenant's own.

        Raises:
            InvalidCursor: the cursor belongs to another list.
        """
        check_limit(limit)
        start = cursor or (_THEIRS if self._sees_system else _OURS)
        of_system = start.startswith(_THEIRS) and self._sees_system
        if not of_system and not start.startswith(_OURS):
            raise InvalidCursor
        kind, tenant = (_THEIRS, SYSTEM_TENANT) if of_system else (_OURS, self._tenant_id)
        after = start.removeprefix(kind)
        if after and not ids.is_job_name(after):
            raise InvalidCursor
        page = self._jobs.list(tenant, limit=limit, cursor=after or None)
        shown = tuple(each for each in page if each.origin is Origin.CODE or not each.removed_at)
        following = kind + page.cursor if page.cursor else _OURS if of_system else None
        if of_system and page.cursor is None and len(shown) < limit:
            rest = self._own(limit - len(shown))
            return JobPage(shown + rest.jobs, rest.cursor)
        return JobPage(shown, following)

    def history(
        self,
        name: str,
        *,
        status: Status | str | Collection[Status | str] | None = None,
        nominal_after: When | None = None,
        nominal_until: When | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page:
        """A page of its runs, newest first, without their payloads: executed, failed, skipped, and those planned.

        What is said of them is looked up in the runs that were read: a page may then be short, or empty, and have a
        cursor.

        Args:
            name: the job.
            status: only those with this status, or with one of these.
            nominal_after: only those for a time after this one.
            nominal_until: only those for a time at or before this one.
            limit: how many at most, 1 to 200.
            cursor: the `cursor` of the page before, with the same filters.

        Raises:
            JobNotFound: there is no such job.
            InvalidCursor: the cursor belongs to another list.
            InvalidSelection: there is no such status, or the span ends before it begins.
            InvalidTime: a bound is naive, or lies outside the years 1970 to 2199.
        """
        check_limit(limit)
        wanted = RunSelection.of(status, nominal_after, nominal_until, self._clock.now())
        job = self._known(name)
        page = self._actions.of_job(
            job.ref.tenant_id,
            job.name,
            limit=limit,
            cursor=cursor,
            has_events=bool(job.stacked.triggers),
        )
        return Page(tuple(filter(wanted.admits, page)), page.cursor)

    def explain(self, name: str, start: When, end: When, *, limit: int = 500) -> Explanation:
        """Account for each nominal time in (start, end]: ran, skipped, missed, not yet due, and why.

        Raises:
            JobNotFound: there is no such job.
            InvalidTime: a bound is naive.
        """
        from duetime.jobs.explain import Explain  # noqa: PLC0415 - who does not ask loads nothing of it

        now = self._clock.now()
        explain = Explain(
            self._actions,
            self._jobs,
            clock=self._clock,
            retention=self._settings.retention,
            job_grace=self._settings.job_grace,
        )
        bounds = instant.resolve(start, now=now), instant.resolve(end, now=now)
        return explain(self._known(name).ref, *bounds, limit=limit)

    def _own(self, limit: int) -> JobPage:
        page = self._jobs.list(self._tenant_id, limit=limit, cursor=None)
        return JobPage(
            tuple(each for each in page if not each.removed_at), _OURS + page.cursor if page.cursor else None
        )

    def _known(self, name: str) -> Job:
        """The job, an unregistered one too: its history is kept."""
        for ref in self._refs(name):
            if job := self._jobs.get(ref):
                return job
        raise JobNotFound(name)

    def _refs(self, name: str) -> Sequence[JobRef]:
        try:
            checked = ids.job_name(name)
        except InvalidIdentifier:
            raise JobNotFound(name) from None
        tenants = (SYSTEM_TENANT, self._tenant_id) if self._sees_system else (self._tenant_id,)
        return [JobRef(tenant, checked) for tenant in tenants]
