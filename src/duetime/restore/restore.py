"""*Restore*: adopt restored tables, hold rows that may double, and let an operator decide about them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from duetime import ids, instant
from duetime.aws import clients
from duetime.aws.backends import AwsBackends
from duetime.aws.deployed import DeployedTables
from duetime.aws.restored_rows import free_lock, is_held
from duetime.aws.restored_tables import RestoredTable
from duetime.aws.tables import FORMAT, JOBS, actions_shape
from duetime.aws.timers import EventBridgeTimers
from duetime.clock import Clock
from duetime.errors import OperationFailed, truncate
from duetime.ids import ActionId
from duetime.jobs.change_with_retry import CHANGED, Conflict, change_with_retry
from duetime.jobs.maintain import changed
from duetime.jobs.missing_times import times_without_rows
from duetime.model.action import Action, SkipReason
from duetime.model.built_in import is_built_in
from duetime.model.change import Change
from duetime.model.job import Job, JobRef, JobSpan, SpanKind
from duetime.ports.action_store import ActionStore
from duetime.ports.job_store import JobStore
from duetime.restore.evidence import Verdict
from duetime.restore.gather import Gather, Gathered, RestoredTables, find_tables, rows_of
from duetime.restore.report import DoubtfulRow, JobAccount, RestoreReport
from duetime.settings import Settings
from duetime.wakeups.assembly import Steps

ACTOR = "restore"
"""The author of the changes."""

_MOST_ENDS = 20
_SECOND = timedelta(seconds=1)


def current(
    job: Job, newest: ActionId | None, tables: RestoredTables, clock: Clock, grace: timedelta
) -> tuple[Job, tuple[JobSpan, ...]]:
    """Return the job with its cursor at the present time, and the span that explains the time before.

    The planner thus plans from now on. It catches up no time whose runs may only be unknown. If the jobs
    table was restored, the job gets a version after all that have rows: the ids of those rows are taken, and
    a lost change may have retired the planned ones. Rows of times before the restore point may be missing:
    an occurrence may be planned late, by up to the grace.

    Args:
        job: as stored.
        newest: the id of its row with the highest version; None without rows.
        tables: which tables were restored.
        clock: the present time.
        grace: how late an occurrence may be planned and run.
    """
    now = clock.now()
    after = changed(job, now)
    if tables.jobs and not job.definition.self_scheduled:
        version = max(job.version, (ids.version_of(newest) if newest else None) or 0)
        ends = dict(sorted({**job.ends, job.version: job.removed_at or now}.items())[-_MOST_ENDS:])
        after = replace(after, version=version + 1, since=now, ends=ends)
    if not job.is_live or job.definition.self_scheduled:
        return after, ()
    start = max(job.anchor, min(job.cursor, _first_doubtful(tables, grace)))
    span = JobSpan(
        kind=SpanKind.MISSED,
        start=start,
        end=now,
        by=ACTOR,
        reason=f"restored to {instant.text(tables.restored_to)[:19]}Z: its runs since then are unknown",
    )
    return replace(after, cursor=now), (span,) if start < now else ()


def _first_doubtful(tables: RestoredTables, grace: timedelta) -> datetime:
    return tables.restored_to - grace - _SECOND


def accounts(
    found: Gathered,
    tables: RestoredTables,
    actions: ActionStore,
    jobs: JobStore,
    *,
    now: datetime,
    grace: timedelta,
) -> Iterator[JobAccount]:
    """Yield the account of each job that needs a look."""
    for job in found.jobs:
        notes = tuple(_notes(job, found))
        unknown: tuple[datetime, ...] = ()
        if tables.actions:
            start, versions = _first_doubtful(tables, grace), jobs.versions(job.ref)
            unknown = tuple(sorted(times_without_rows(job, actions, start, now, versions)))
        if unknown and job.definition.catch_up:
            notes += (f"none of them runs later; `duetime jobs trigger {job.name}` runs it once",)
        if unknown or notes:
            yield JobAccount(ref=job.ref, times=unknown, notes=notes)
    for ref, problem in found.unreadable_jobs.items():
        yield JobAccount(ref=ref, notes=(f"it cannot be read, and stays as it is: {problem}",))
    stored = {*(job.ref for job in found.jobs), *found.unreadable_jobs}
    for ref in sorted(found.previous_jobs.keys() - stored, key=str):
        yield JobAccount(
            ref=ref, notes=("it was added after the restore point: deploy or register it again",)
        )


def _notes(job: Job, found: Gathered) -> Iterator[str]:
    before = found.previous_jobs.get(job.ref)
    if before is not None and before.revision != job.revision:
        parts = [
            name
            for name in ("definition", "version", "pauses", "tuning", "removed_at")
            if getattr(before, name) != getattr(job, name)
        ]
        yield f"changed after the restore point: {', '.join(parts) or 'its plan'}"
    if job.running is not None:
        yield f"its lock, held by {job.running.id}, is freed"


_BATCH = 100
_REPAIR_TIME = timedelta(minutes=10)


class Restore:
    """One restore.

    Args:
        deployed: the settings of the deployment.
        clock: the present time.
        actions: the name of the restored actions table; empty if it was not restored.
        jobs: the name of the restored jobs table; empty if it was not restored.
        restored_to: the restore point, where DynamoDB has no record of it.
        reads_logs: whether logs are read as evidence.

    Raises:
        OperationFailed: a table cannot be adopted, or is not named.
    """

    def __init__(
        self,
        deployed: Settings,
        clock: Clock,
        *,
        actions: str = "",
        jobs: str = "",
        restored_to: datetime | None = None,
        reads_logs: bool = True,
    ) -> None:
        if not actions and not jobs:
            raise OperationFailed("no table is named; name the restored ones with --actions, --jobs, or both")
        self._tables = find_tables(deployed, clock, actions=actions, jobs=jobs, restored_to=restored_to)
        self._settings = deployed.with_made(
            actions_table=actions or deployed.made.actions_table,
            jobs_table=jobs or deployed.made.jobs_table,
        )
        self._clock, self._reads_logs = clock, reads_logs
        self._backends = AwsBackends(self._settings, clock)
        self._steps = Steps(self._backends)
        self._rows = rows_of(self._settings)
        self._check_format()

    def report(self) -> RestoreReport:
        """Return the account, and change nothing."""
        return self._account(self._gather())

    def adopt(self) -> RestoreReport:
        """Hold doubtful rows, reconcile jobs and EventBridge with the rows, and enable what is missing.

        Rows are held before the stream exists, so nothing publishes or wakes them. A repeat is safe.

        Raises:
            OperationFailed: the deployment is not switched off; nothing was changed.
            BackendUnavailable: not all was done; repeat it.
        """
        if self._settings.enabled:
            raise OperationFailed(
                "the global switch is on, so restored rows would run at once; nothing was changed. First"
                " deploy with `-c duetime:enabled=false`, wait until running handlers have ended, and repeat"
                " this command"
            )
        found = self._gather()
        account = self._account(found)
        doubtful = [self._hold(row) for row in account.doubtful]
        enabled = {kind: table.enable(tags_of=tags).enabled for kind, table, tags in self._restored()}
        for job in found.jobs:
            self._settle_job(job.ref)
        doubted = {row.row.ref for row in account.doubtful}
        waking = [row for row in found.rows if row.ref not in doubted]
        removed = self._set_timers(found, waking)
        repaired = self._steps.repair(stop_at=self._clock.now() + _REPAIR_TIME)
        return replace(
            account,
            doubtful=doubtful,
            enabled=enabled,
            settings=self._lines(),
            timers_set=len(waking),
            timers_removed=removed,
            wakes_removed=repaired.removed,
        )

    def _check_format(self) -> None:
        found = DeployedTables(clients.dynamodb(), self._settings.made.jobs_table).format()
        if found not in {FORMAT, None} or (found is None and self._tables.jobs):
            raise OperationFailed(
                f"the table {self._settings.made.jobs_table} has the format {found}; allowed is {FORMAT}."
                " Name a jobs table of duetime, and use the version of duetime that wrote it"
            )

    def _gather(self) -> Gathered:
        return Gather(self._settings, self._tables, self._clock, reads_logs=self._reads_logs)()

    def _account(self, found: Gathered) -> RestoreReport:
        judged = [(row, found.evidence.judge(row)) for row in found.rows] if self._tables.actions else []
        doubtful = [
            DoubtfulRow(row=row, judgement=judgement)
            for row, judgement in sorted(judged, key=lambda pair: (pair[0].nominal_at, pair[0].id))
            if judgement.verdict.is_doubtful and not is_built_in(row.type)
        ]
        now = self._clock.now()
        return RestoreReport(
            tables={kind: table.name for kind, table, _ in self._restored()},
            restored_to=self._tables.restored_to,
            at=now,
            sources=found.sources,
            unchanged=len(found.rows) - len(doubtful),
            held=len(found.held),
            doubtful=doubtful,
            lost=found.lost,
            jobs=tuple(
                accounts(
                    found,
                    self._tables,
                    self._backends.store,
                    self._backends.jobs,
                    now=now,
                    grace=self._settings.job_grace,
                )
            ),
            enabled={},
            settings={},
        )

    def _restored(self) -> Iterator[tuple[str, RestoredTable, Sequence[str]]]:
        """Yield each restored table, with the tables whose tags it gets."""
        settings, tables, client = self._settings, self._tables, clients.dynamodb()
        if tables.actions:
            shape = actions_shape(due_order=settings.due_order)
            tagged = [tables.previous_actions or settings.made.jobs_table, settings.made.jobs_table]
            yield "actions", RestoredTable(client, tables.actions, shape, self._clock), tagged
        if tables.jobs:
            tagged = [tables.previous_jobs or settings.made.actions_table, settings.made.actions_table]
            yield "jobs", RestoredTable(client, tables.jobs, JOBS, self._clock), tagged

    def _lines(self) -> Mapping[str, str]:
        return {f"duetime:{kind}_stream": table.stream() for kind, table, _ in self._restored()}

    def _hold(self, doubtful: DoubtfulRow) -> DoubtfulRow:
        verdict, evidence = doubtful.judgement
        note = truncate(f"{verdict}: {evidence}")
        is_done = self._rows.hold(doubtful.row, note, by=ACTOR, at=self._clock.now())
        return replace(doubtful, is_held=is_done)

    def _settle_job(self, ref: JobRef) -> None:
        """Free the job's lock, move its cursor to now, and set its wakes on EventBridge."""
        free_lock(clients.dynamodb(), self._settings.made.jobs_table, ref)

        def write() -> Conflict | None:
            job = self._backends.jobs.get(ref)
            if job is None:
                return None
            after, spans = current(
                job, self._rows.newest_of(ref), self._tables, self._clock, self._settings.job_grace
            )
            return None if self._backends.jobs.change(job, after, spans=spans) else CHANGED

        change_with_retry(write, f"job {ref.name}")
        self._steps.maintain(ref)

    def _set_timers(self, found: Gathered, waking: Sequence[Action]) -> int:
        """Wake the rows that run when they are due; remove and count the timers of all others."""
        removed, timers = 0, self._backends.timers
        if isinstance(timers, EventBridgeTimers):
            named = found.evidence.names_of(waking)
            for name in sorted((found.evidence.timers or frozenset()) - named):
                timers.remove(name)
                removed += 1
        for first in range(0, len(waking), _BATCH):
            self._steps.arm([Change(None, row) for row in waking[first : first + _BATCH]])
        return removed


class HeldRows:
    """The rows that a restore holds, and an operator's decisions about them.

    Args:
        settings: the deployment's, with the name of the restored actions table.
        clock: the present time.
    """

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self._settings, self._clock, self._rows = settings, clock, rows_of(settings)
        self._steps = Steps(AwsBackends(settings, clock))

    def list(self) -> Sequence[Action]:
        """Return the held rows, by their nominal times."""
        return sorted(self._rows.held(), key=lambda row: (row.nominal_at, row.id))

    def run_again(self, rows: Iterable[Action]) -> int:
        """Let rows run at their nominal times, or now if these have passed; return how many were held."""
        released = [
            changed for row in rows if (changed := self._rows.release(row, by=ACTOR, at=self._clock.now()))
        ]
        for first in range(0, len(released), _BATCH):
            self._steps.arm([Change(None, row) for row in released[first : first + _BATCH]])
        return len(released)

    def mark_done(self, rows: Iterable[Action]) -> int:
        """Skip rows for good, because they have run; return how many were held."""
        now, done = self._clock.now(), 0
        for row in rows:
            if is_held(row):
                note = truncate(f"marked as done after a restore; {row.note}")
                kept_until = now + self._settings.retention
                outcome = self._rows.store.skip(
                    row, SkipReason.REQUESTED, note=note, by=ACTOR, at=now, kept_until=kept_until
                )
                done += outcome.action is not None and outcome.action.status.is_final
        return done


def verdict_of(row: Action) -> Verdict:
    """Return the verdict in the note of a held row."""
    return Verdict((row.note or "").partition(":")[0])
