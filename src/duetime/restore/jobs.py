"""Bring the jobs of a restored deployment up to now, and account for the time since the restore point."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from duetime import ids, instant
from duetime.clock import Clock
from duetime.ids import ActionId
from duetime.jobs.maintain import changed
from duetime.jobs.missing_times import times_without_rows
from duetime.model.job import Job, JobSpan, SpanKind
from duetime.ports.actions import ActionStore
from duetime.ports.jobs import JobStore
from duetime.restore.gather import Gathered, RestoredTables
from duetime.restore.report import JobAccount

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
