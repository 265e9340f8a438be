"""*Predecessor run*: decide whether a run of a job with `after` may begin.

The run waits for one run of the other job: that of the latest nominal time at or before its own on the same
day, or else of the first one after it that day. The day is that of its cadence's zone. The rows decide:

=====================================  ================================================================
the other job, on that day             the run
=====================================  ================================================================
has no nominal time                    begins
its run executed, also in a backfill   begins
anything else, before the time-out     looks again later, since a retry or a redrive may still succeed
anything else, at the time-out         is skipped: ``predecessor``
=====================================  ================================================================

A look that comes too early moves the due time of the row, so a waiting run is not overdue. The run also
becomes a follower of the other rows, so the success of one wakes it (`duetime.wakeups.follow`). Later looks
find what had no row yet, or whose wake was lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from duetime import ids, instant
from duetime.cadence.words import span_words
from duetime.cadence.zones import DAY, seconds_of, zone
from duetime.jobs.claim_policy import Postpone, Skip, wait_ends_at
from duetime.model.action import Action, ActionRef, SkipReason, Status
from duetime.model.batch import MOST_FOLLOWERS
from duetime.model.job import Job, JobRef, Version
from duetime.ports.action_store import ActionStore
from duetime.ports.job_store import JobStore

_SOONEST, _LATEST = timedelta(minutes=1), timedelta(minutes=30)
"""The bounds of the time between two looks: 40 of them in twelve hours."""

_SHARE_OF_WAIT = 0.25
_SECOND, _LEAST = timedelta(seconds=1), timedelta(microseconds=1)


class PredecessorRun:
    """Looks at the run for which another one waits."""

    def __init__(self, actions: ActionStore, jobs: JobStore) -> None:
        self._actions, self._jobs = actions, jobs

    def __call__(self, row: Action, job: Job, now: datetime) -> Skip | Postpone | None:
        """Return what becomes of a run that is due; None if it may begin.

        Raises:
            BackendUnavailable: a service did not respond; look again.
        """
        ends_at, name = wait_ends_at(row, job), job.definition.after or job.name
        other, found, waits_for = self._jobs.get(JobRef(job.ref.tenant_id, name)), None, str(name)
        rows: Sequence[Action] = ()
        if other is None:
            status = "is not declared"
        else:
            found = self._time_of(other, row, job)
            if found is None:
                return None
            at, number = found
            waits_for = ids.occurrence_id(other.name, number, at)
            rows = self._runs(other, at, number)
            if any(run.status is Status.EXECUTED for run in rows):
                return None
            status = f"of {instant.text(at)[:19]}Z {_status(rows, other)}"
        if now >= ends_at:
            waited = span_words(timedelta(seconds=job.definition.waits_at_most))
            note = f"{name} {status}, {waited} after this run was due"
            return Skip(SkipReason.PREDECESSOR, note)
        begins_at = now if found is None else max(found[0], row.nominal_at)
        follows = tuple(run.ref for run in rows if _may_follow(row, run))
        return Postpone(min(_next_look(begins_at, now), ends_at), waits_for, follows)

    def _time_of(self, other: Job, row: Action, job: Job) -> tuple[datetime, int] | None:
        """Return the nominal time for which a run waits, and the version that has it."""
        at, tz = ids.nominal_at(row.id), _zone_of(row, job)
        day, versions = _day(at, tz), self._versions(other, at)
        for version in reversed(versions):
            until = min(at, version.until or at)
            before = other.cadences_of(version.definition).last_before(until + _LEAST)
            if before is not None and before > version.since and _day(before, tz) == day:
                return before, version.number
        for version in versions:
            after = other.cadences_of(version.definition).next_after(max(at, version.since))
            if after is not None and after <= (version.until or after) and _day(after, tz) == day:
                return after, version.number
        return None

    def _versions(self, other: Job, at: datetime) -> Sequence[Version]:
        """Return the versions that were in force on a day; most jobs have had one since long."""
        if other.version > 1 and other.since > at - timedelta(days=2):
            return self._jobs.versions(other.ref)
        return [Version(number=other.version, definition=other.definition, since=other.since)]

    def _runs(self, other: Job, at: datetime, number: int) -> list[Action]:
        """Return the rows of a nominal time: of each version that may have planned it, and of backfills."""
        numbers = dict.fromkeys([number, other.version, *other.ends])
        refs = [
            ActionRef(other.ref.tenant_id, ids.occurrence_id(other.name, version, at)) for version in numbers
        ]
        rows = list(self._actions.get_rows(refs))
        if any(row.status is Status.EXECUTED for row in rows):
            return rows
        repeated = [
            backfill for backfill in self._jobs.backfills(other.ref) if backfill.overlaps(at, at + _LEAST)
        ]
        more = [backfill.run_ref(at) for backfill in repeated]
        return rows + (list(self._actions.get_rows(more)) if more else [])


def _may_follow(row: Action, run: Action) -> bool:
    return row.id not in run.followers and len(run.followers) < MOST_FOLLOWERS


def _next_look(begins_at: datetime, now: datetime) -> datetime:
    """Return when to look again: soon after the other run is due, then ever more rarely."""
    delay = max((now - begins_at) * _SHARE_OF_WAIT, _SOONEST)
    return (max(begins_at, now) + min(delay, _LATEST)).replace(microsecond=0) + _SECOND


def _status(rows: Sequence[Action], other: Job) -> str:
    if other.removed_at is not None:
        return "has not succeeded, and its job is no longer declared"
    words = ", ".join(_words(rows))
    return f"has not succeeded: it is {words}" if words else "has not succeeded: it has no run"


def _words(rows: Sequence[Action]) -> Iterator[str]:
    for row in rows:
        if row.skip_reason is not SkipReason.RETIRED:
            reason = f" ({row.skip_reason})" if row.skip_reason else ""
            yield f"{row.status.value}{reason}"


def _zone_of(row: Action, job: Job) -> str:
    cadences = job.cadence_set
    return cadences.by_name.get(row.cadence or "", cadences.cadences[0]).tz


def _day(at: datetime, tz: str) -> int:
    """Return the local day of an instant, as a number."""
    second = seconds_of(at)
    return (second + zone(tz).span(second).offset) // DAY
