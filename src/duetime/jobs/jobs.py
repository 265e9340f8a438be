"""Jobs for their operators: look up, pause, resume, trigger, skip the next run, set retries, and register.

This module needs the tables alone, and no EventBridge.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from duetime import ids, instant
from duetime.errors import InvalidArgument, InvalidCursor, NotFound
from duetime.ids import SYSTEM_TENANT
from duetime.instant import When
from duetime.jobs.operate import JobOperations
from duetime.jobs.register import JobDraft, Register, Registered, Registration
from duetime.jobs.tenant_context import TenantContext, TenantTables
from duetime.model.action import Action, ActionRef, Status
from duetime.model.backfill import USUAL_AT_ONCE, BackfillOrder
from duetime.model.job import Job, JobRef, Origin, StoredDefinition
from duetime.model.selection import RunSelection, check_limit
from duetime.ports.actions import Page
from duetime.ports.job_store import JobPorts
from duetime.ports.jobs import JobPage
from duetime.retry import Duration

if TYPE_CHECKING:
    from duetime.jobs.backfills import BackfillOperations, BackfillPreview
    from duetime.jobs.explain import Explanation
    from duetime.model.backfill import Backfill
    from duetime.payload import Payload

_OURS, _THEIRS = "own ", "system "
_SECOND = timedelta(seconds=1)


def cursor_after(job: Job) -> str:
    """Return the cursor of the part of a list of jobs that begins after this one."""
    return (_THEIRS if job.ref.tenant_id == SYSTEM_TENANT else _OURS) + job.name


class Jobs:
    """The jobs of one tenant, and those that code declares, in one actor's name; `Scheduler.jobs` is one."""

    def __init__(
        self, context: TenantContext, ports: JobPorts, check_shards: Callable[[], None] = lambda: None
    ) -> None:
        """Make them.

        Args:
            context: the tenant and actor.
            ports: the back ends.
            check_shards: raises `SettingsError` before rows are written that no pass reads.
        """
        self._check_shards = check_shards
        self._context, self._actions, self._jobs = context, context.store, ports.jobs
        self._tables = TenantTables(context.store, ports.jobs, context.clock, context.settings)
        self._operations, self._routes = JobOperations(context, self._tables, self.get), ports.routes
        self._register = Register(self._tables, ports)

    def get(self, name: str) -> Job:
        """Return a job in its present state: this tenant's own, or code's.

        Raises:
            NotFound: there is no job of that name.
        """
        for job in self._found(name):
            if not (job.origin is Origin.RUNTIME and job.removed_at):
                return job
        raise NotFound("job", name)

    def list(self, *, limit: int = 50, cursor: str | None = None) -> JobPage:
        """Return a page of jobs by name: code's first, removed ones included, then this tenant's own.

        Raises:
            InvalidCursor: the cursor belongs to another list.
        """
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
        status: Status | str | Collection[Status | str] | None = None,
        nominal_after: When | None = None,
        nominal_until: When | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page:
        """Return a page of a job's runs, newest first: executed, failed, skipped, planned.

        A triggered run has its payload, up to 2 KB; other runs have none.

        The filters apply to the runs read. A page may thus be short or empty, and still have a cursor.

        Args:
            name: the job.
            status: only runs with this status, or with one of these.
            nominal_after: only runs for a time after this one.
            nominal_until: only runs for a time at or before this one.
            limit: the most runs, 1 to 200.
            cursor: the `cursor` of the previous page, with the same filters.

        Raises:
            NotFound: there is no such job.
            InvalidCursor: the cursor belongs to another list.
            InvalidArgument: there is no such status, or the range ends before it begins; or a bound is naive,
                or lies outside the years 1970 to 2199.
        """
        check_limit(limit)
        selection = RunSelection.parse(status, nominal_after, nominal_until, self._context.clock.now())
        job = self._known(name)
        has_events, until = bool(job.cadence_set.triggers), selection.nominal_until
        if cursor is None and until is not None and until < instant.LATEST - _SECOND and not has_events:
            cursor = ids.occurrence_id(job.name, job.version, until + _SECOND)  # past the runs after it
        page = self._actions.of_job(
            job.ref.tenant_id, job.name, limit=limit, cursor=cursor, has_events=has_events
        )
        return Page(tuple(filter(selection.admits, page)), page.cursor)

    def explain(self, name: str, start: When, end: When, *, limit: int = 500) -> Explanation:
        """Return the status of each nominal time in (start, end]: ran, skipped, missed, not yet due, and why.

        Raises:
            NotFound: there is no such job.
            InvalidArgument: a bound is naive.
        """
        from duetime.jobs.explain import Explain  # noqa: PLC0415 - most callers do not need it

        now = self._context.clock.now()
        bounds = instant.resolve(start, now=now), instant.resolve(end, now=now)
        return Explain(self._tables)(self._known(name).ref, *bounds, limit=limit)

    def pause(
        self, name: str, *, reason: str = "", until: When | None = None, cadence: str | None = None
    ) -> Job:
        """Start no run from now on.

        A run in progress ends, and so do its retries; new occurrences are skipped.

        Args:
            name: the job.
            reason: the reason, of at most 200 characters.
            until: when the pause ends by itself; one that stands already keeps its own end and reason.
            cadence: the name of the one cadence to pause.

        Raises:
            NotFound: there is no such job.
            StateConflict: it has no such cadence, or it is removed.
            InvalidArgument: `until` is naive or not in the future.
        """
        self._check_shards()
        return self._operations.pause(name, reason, until, cadence)

    def resume(self, name: str, *, cadence: str | None = None) -> Job:
        """End a pause. The next occurrence is planned at once; occurrences of the pause do not run later.

        Raises:
            NotFound: there is no such job.
            StateConflict: it is not paused, or has no such cadence.
        """
        self._check_shards()
        return self._operations.resume(name, cadence)

    def skip_next(self, name: str, *, cadence: str | None = None) -> Action:
        """Skip the next occurrence that would run, planned or not; the one after it runs.

        Args:
            name: the job.
            cadence: the name of the one cadence whose next occurrence is skipped.

        Returns:
            The skipped one.

        Raises:
            NotFound: there is no such job.
            StateConflict: it has no next occurrence, or no such cadence.
        """
        self._check_shards()
        return self._operations.skip_next(name, cadence)

    def set(
        self,
        name: str,
        *,
        attempts: int | None = None,
        backoff: Duration | Sequence[Duration] | None = None,
        jitter: float | None = None,
        cadence: str | None = None,
    ) -> Job:
        """Set how runs are retried, in place of code's values; every deploy keeps this.

        A value that is left out is code's again.

        Raises:
            NotFound: there is no such job.
            StateConflict: it has no such cadence.
            DeclarationError: a value is out of its range.
        """
        return self._operations.set(name, attempts, backoff, jitter, cadence)

    def register(self, job: Registration) -> Job:
        """Declare a job of this tenant's own, for a handler that code registered; it is planned at once.

        Raises:
            DeclarationError: its parts contradict each other, or this back end cannot honour it.
            InvalidCadence: a cadence's text is mistyped, or it never fires.
            InvalidArgument: its key's time to live is out of range.
            UnknownType: no deployed worker has a handler of that name.
            StateConflict: the name is code's, or this tenant's and `replace` is not set.
        """
        self._check_shards()
        return self._register(job, self._context.tenant_id, self._context.actor)

    def draft(self, job: Registration) -> JobDraft:
        """Return what `register` would change, and why it would be rejected; change nothing.

        Raises:
            DeclarationError: a value has another type than it must have.
            InvalidCadence: a cadence's text is mistyped, or it never fires.
        """
        return self._register.draft(job, self._context.tenant_id, self._context.actor)

    def definitions(self, name: str) -> Sequence[StoredDefinition]:
        """Return the definitions that a job has had, oldest first; the last one is in force.

        Ended ones are stored for 400 days. Of a job that code declares, those that ended with a version.

        Raises:
            NotFound: there is no such job.
        """
        return self._jobs.definitions(self.get(name).ref)

    def roll_back(self, name: str, definition_id: str) -> Job:
        """Let a former definition of a registered job come into force again.

        Version numbers only grow: if the plan changes, this makes a new version.

        Args:
            name: the job.
            definition_id: the `id` of one of its `definitions`, such as ``3``.

        Raises:
            NotFound: there is no such job; or the job has no such definition.
            StateConflict: code declares the job, or the definition is in force.
            UnknownType: no deployed worker has the definition's handler.
            DeclarationError: this deployment cannot honour the definition.
        """
        self._check_shards()
        return self._register.roll_back(lambda: self.get(name), definition_id, self._context.actor)

    def register_and_trigger(self, job: Registration) -> Registered:
        """Declare a job as `register` does, and run it now as `trigger` does.

        The same idempotency key again, while it holds, is the same registration and the same run. After a
        lost response, repeat the call; it does what is missing.

        Returns:
            The job and the run: the first one of its key, in its present state.

        Raises:
            StateConflict: the job is registered and not triggered, since a run of the replaced job has not
                ended.
            DuetimeError: see `register` and `trigger`.
        """
        registered, key = self.register(job), job.idempotency_key
        at = registered.registered_at
        if key is None or at is None or not registered.holds_key(key, self._context.clock.now()):
            return Registered(registered, self.trigger(registered.name))
        run_id = ids.registered_run_id(registered.name, registered.version, at, key)
        first = self._actions.get(ActionRef(registered.ref.tenant_id, run_id))
        return Registered(registered, first or self._operations.trigger(registered.name, None, run_id))

    def unregister(self, name: str) -> None:
        """Remove a job that `register` declared: it runs no more; its history remains.

        Raises:
            NotFound: this tenant has registered no such job.
            StateConflict: code declares it.
        """
        self._register.unregister(name, self._context.tenant_id)

    def trigger(self, name: str, *, payload: Payload | None = None) -> Action:
        """Run a job now, paused or not; its overlap policy applies if another run has not ended.

        Returns:
            The pending action. With ``overlap="queue_one"`` or ``"cancel_running"`` it waits for the other's
                end.

        Raises:
            NotFound: there is no such job.
            StateConflict: it is running, and its policy is to skip; or it is removed.
            InvalidPayload: the payload does not fit one DynamoDB item.
        """
        self._check_shards()
        return self._operations.trigger(name, payload)

    def backfill(
        self,
        name: str,
        start: When,
        until: When,
        *,
        at_once: int = USUAL_AT_ONCE,
        order: BackfillOrder | str = BackfillOrder.OLDEST,
        again: bool = False,
    ) -> Backfill:
        """Run the nominal times in [start, until) that have not run, beside the job's current runs.

        The times are those of the job's present cadences, also before the job was declared. Each is a run of
        its own, with `run.is_backfill`. It takes no lock, and is not in the job's statistics. A second call
        with the same arguments by the same actor returns the unfinished backfill that the first one began.

        Args:
            name: the job.
            start: the first instant.
            until: the end, excluded; not in the future.
            at_once: the most runs that have begun and not ended, 1 to 100; waiting retries count.
            order: ``"oldest"`` or ``"newest"`` times first.
            again: whether times run that already ran.

        Raises:
            NotFound: there is no such job.
            StateConflict: it is removed or paused, or has no nominal times; or an unfinished backfill of the
                job has a part of the range.
            UnknownType: no deployed worker has its handler.
            InvalidArgument: the range is empty, in the future, or has no time or more than 10,000; or an
                argument is out of range; or a bound is naive.
        """
        self._check_shards()
        return self._backfills.begin(name, start, until, at_once=at_once, order=order, again=again)

    def preview_backfill(
        self, name: str, start: When, until: When, *, again: bool = False
    ) -> BackfillPreview:
        """Return the nominal times that `backfill` would run, and those that it would leave out.

        Raises:
            DuetimeError: as `backfill`, except for other backfills.
        """
        return self._backfills.preview(name, start, until, again=again)

    def backfills(self, name: str) -> Sequence[Backfill]:
        """Return the job's backfills with their progress, the latest first.

        Raises:
            NotFound: there is no such job.
        """
        return self._backfills.all_of(name)

    def get_backfill(self, name: str, backfill_id: str) -> Backfill:
        """Return a backfill with its progress.

        Raises:
            NotFound: there is no such job; or the job has no such backfill.
        """
        return self._backfills.get(name, backfill_id)

    def pause_backfill(self, name: str, backfill_id: str | None = None) -> Backfill:
        """Begin no further runs of a backfill; open ones end.

        Args:
            name: the job.
            backfill_id: the backfill; None for the only unfinished one.

        Raises:
            NotFound: there is no such job; or the job has no such backfill.
            StateConflict: it has ended, or there are several.
        """
        return self._backfills.pause(name, backfill_id)

    def resume_backfill(self, name: str, backfill_id: str | None = None) -> Backfill:
        """Begin runs of a paused backfill again.

        Raises:
            DuetimeError: as `pause_backfill`.
        """
        self._check_shards()
        return self._backfills.resume(name, backfill_id)

    def cancel_backfill(self, name: str, backfill_id: str | None = None) -> Backfill:
        """End a backfill: cancel its pending runs, and request that the running ones stop.

        Raises:
            DuetimeError: as `pause_backfill`.
        """
        return self._backfills.cancel(name, backfill_id)

    @property
    def _backfills(self) -> BackfillOperations:
        from duetime.jobs.backfills import BackfillOperations  # noqa: PLC0415 - most callers do not need it

        return BackfillOperations(self._context, self._tables, self._routes, self.get)

    def _own(self, limit: int) -> JobPage:
        page = self._jobs.list(self._context.tenant_id, limit=limit, cursor=None)
        cursor = _OURS + page.cursor if page.cursor else None
        return JobPage(tuple(job for job in page if not job.removed_at), cursor)

    def _known(self, name: str) -> Job:
        for job in self._found(name):
            return job
        raise NotFound("job", name)

    def _found(self, name: str) -> Iterator[Job]:
        """Yield the stored jobs of a name: code's first, then this tenant's own."""
        try:
            checked = ids.job_name(name)
        except InvalidArgument:
            raise NotFound("job", name) from None
        own = self._context.tenant_id
        for tenant in (SYSTEM_TENANT, own) if self._context.sees_system else (own,):
            if job := self._jobs.get(JobRef(tenant, checked)):
                yield job
