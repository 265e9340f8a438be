"""Versions of a job: add, redefine and remove a job, and retire the planned rows of an ended version.

A change of the plan makes a new version. Version numbers only grow: a return to an older definition, or to a
removed job, is a new version too::

    version 1  ─────────────┤ its rows up to here run, those after it are retired
    version 2               ├──────────────  its cursor begins at the change
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from duetime import instant
from duetime.cadence import parse
from duetime.cadence.bounds import instants_of
from duetime.cadence.zones import zone
from duetime.ids import PLANNER
from duetime.jobs.maintain import changed, resumed
from duetime.model.action import SkipReason, Status
from duetime.model.job import WHOLE_JOB, Definition, Job, JobRef, JobSpan, Origin, Overlap, SpanKind
from duetime.model.wake_state import WakeState
from duetime.ports.backends import JobTables

_PAGE = 100
_MOST_ENDS = 20


class JobVersions:
    """Writes the versions of jobs."""

    def __init__(self, backends: JobTables) -> None:
        self._actions, self._jobs = backends.store, backends.jobs
        self._clock, self._settings = backends.clock, backends.settings

    def redefine(
        self, job: Job, definition: Definition, plan: Callable[[JobRef], object], **registration: Any
    ) -> Job | None:
        """Write another definition; return the job, or None if it has changed meanwhile.

        Args:
            job: the stored job.
            definition: its next definition.
            plan: plans the times of the old version up to now.
            registration: further fields of the job.
        """
        if job.removed_at is None and not definition.plans_like(job.definition):
            plan(job.ref)
            job = self._jobs.get(job.ref) or job
        now = self._time_of_change(job)  # read later: what falls due meanwhile belongs to the old version
        after, spans = _redefined(job, definition, now)
        after = replace(after, **registration)
        if not self._jobs.change(job, after, spans=spans):
            return None
        if after.version != job.version:
            self._retire(job, now, SkipReason.RETIRED, f"version {after.version} has taken over")
        return after

    def remove(self, job: Job, note: str) -> bool:
        """Remove a job and skip its planned rows; return False if it has changed meanwhile."""
        now = self._time_of_change(job)
        is_removed = self._jobs.change(job, replace(changed(job, now), removed_at=now))
        if is_removed:
            self._retire(job, now, SkipReason.DISABLED, note)
        return is_removed

    def _time_of_change(self, job: Job) -> datetime:
        """Return the present time, but no earlier than the change before, which a faster clock may have made.

        Else a version would begin before its predecessor ended, and both would have the times between.
        """
        return max(self._clock.now(), job.since, job.removed_at or job.since)

    def _retire(self, job: Job, after: datetime, reason: SkipReason, note: str) -> None:
        """Skip the version's planned rows with a later nominal time; the claim rejects the rest."""
        until, kept_until, cursor = max(job.cursor, after), after + self._settings.retention, None
        while True:
            page = self._actions.occurrences(
                job.ref.tenant_id, job.name, job.version, after=after, until=until, limit=_PAGE, cursor=cursor
            )
            for row in page:
                if row.status is Status.PENDING and row.attempt == 0:
                    self._actions.skip(row, reason, note=note, by=PLANNER, at=after, kept_until=kept_until)
            cursor = page.cursor
            if cursor is None:
                return


def new_job(ref: JobRef, definition: Definition, now: datetime, **registration: Any) -> Job:
    """Return the first version of a job.

    Its intervals begin at the second, or for a precision of minutes at the minute, of `now`.
    """
    second = now.replace(microsecond=0)
    return Job(
        ref=ref,
        definition=definition,
        since=now,
        anchor=second.replace(second=0) if definition.precision == "minute" else second,
        cursor=now,
        maintain_at=now,
        wakes=WakeState(is_stale=True),
        **registration,
    )


def _redefined(job: Job, definition: Definition, now: datetime) -> tuple[Job, Sequence[JobSpan]]:
    """Return the job with another definition: in a new version if its plan changes, or if it was removed.

    A removed job needs a new version because the ids of its retired rows are taken.
    """
    definition = replace(definition, counted=counted_before(job, definition, now))
    job, spans = resumed(job, [name for name, pause in job.pauses.items() if pause.is_over(now)], now)
    unlocked_since = _unlocked_since(job, definition, now)
    after = replace(job, definition=definition, removed_at=None, unlocked_since=unlocked_since)
    if job.removed_at is None and definition.plans_like(job.definition):
        return changed(after, now), spans
    recent_ends = dict(sorted({**job.ends, job.version: job.removed_at or now}.items())[-_MOST_ENDS:])
    after = replace(after, version=job.version + 1, since=now, cursor=now, ends=recent_ends)
    return changed(after, now), (*spans, *_passed_over(job, now))


def counted_before(job: Job, definition: Definition, now: datetime) -> str:
    """Return what the count of a job's next definition has had; see `Definition.counted`.

    A change of the time, the filters or the number goes on counting; another start counts from zero. The
    definition holds it, not the state, because all that computes nominal times shares the definition.
    """
    if job.removed_at is None and definition.plans_like(job.definition):
        return job.definition.counted
    before, after = _start_of_count(job.definition), _start_of_count(definition)
    if not after or (before.isdisjoint(after) and None not in after):
        return ""
    used = [cadence.counted_until(job.removed_at or now) for cadence in job.cadence_set.cadences]
    return f"{0 if before.isdisjoint(after) else max(used)}@{instant.text(now)}"


def _start_of_count(definition: Definition) -> set[datetime | int | None]:
    """Return the start of the cadence with a count, as written and as an instant; None if it has no start.

    Two starts are the same if either is: a zone may change, or the spelling.
    """
    text = next((text for text in definition.cadences if " count=" in text), "")
    start = re.search(r" start=(\S+)", text)
    if start is None:
        return {None} if text else set()
    return {datetime.fromisoformat(start[1]), min(instants_of(start[1], zone(parse(text).tz)))}


def _unlocked_since(job: Job, definition: Definition, now: datetime) -> datetime | None:
    """Return since when runs need the lock, if others may be in progress that began without it."""
    if definition.overlap is Overlap.ALLOW:
        return None
    return now if job.definition.overlap is Overlap.ALLOW else job.unlocked_since


def _passed_over(job: Job, now: datetime) -> Iterator[JobSpan]:
    """Return the spans that explain the unplanned times of a version that ends at `now`."""
    if job.removed_at is not None:
        by = "deploy" if job.origin is Origin.CODE else ""
        yield JobSpan(kind=SpanKind.DISABLED, start=job.removed_at, end=now, by=by)
    pause = job.pauses.get(WHOLE_JOB)
    until = min(end for end in (now, job.removed_at, pause and pause.since) if end)
    first = None if job.definition.self_scheduled else job.cadence_set.next_after(job.cursor)
    if first is not None and first <= until:
        yield JobSpan(kind=SpanKind.MISSED, start=job.cursor, end=until, by=PLANNER)
