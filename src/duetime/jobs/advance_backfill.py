"""*Advance* a backfill: count its ended runs, and begin as many as its bound permits.

Any caller may do so at any time, also several at once: the operator's call, a worker after a run of it, the
sweep each minute. One write replaces the backfill if it is as read; then the rows of the new open times are
put. After a crash in between, the next call puts them: an open time without a row has not begun. A run's id
consists of job, version, nominal time and backfill, so it begins once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from itertools import islice

from duetime import ids
from duetime._lazy_property import lazy_property
from duetime.ids import PLANNER, TenantId
from duetime.jobs.change_with_retry import CHANGED, Conflict, change_with_retry
from duetime.jobs.end_hand_over import EndHandOver
from duetime.jobs.trusted_reading import KnownPauses, KnownRegion
from duetime.model import transition
from duetime.model.action import Action, Status
from duetime.model.backfill import Backfill, BackfillOrder, BackfillRef, BackfillState
from duetime.model.cadence_set import CadenceSet
from duetime.model.job import WHOLE_JOB, Definition, Job, JobSpan, Version
from duetime.model.metric import Metric
from duetime.model.row_parts import RunPlan
from duetime.ports.backends import JobTables
from duetime.ports.meter import UNMETERED, Meter, Subject

_MOST_LOOKS = 2_000
"""The most times that one call examines: most of them are left out."""

_LARGEST_CHUNK = 500
_LEAST = timedelta(microseconds=1)


class AdvanceBackfill:
    """Advances one backfill at a time."""

    def __init__(
        self,
        backends: JobTables,
        *,
        pauses: KnownPauses | None = None,
        region: KnownRegion | None = None,
        meter: Meter = UNMETERED,
    ) -> None:
        self._backends, self._actions, self._jobs = backends, backends.store, backends.jobs
        self._clock, self._settings, self._meter = backends.clock, backends.settings, meter
        self._pauses, self._region = pauses, region
        self._end_hand_over = EndHandOver(backends.store, lambda: backends.jobs, settings=backends.settings)

    def __call__(self, ref: BackfillRef) -> Backfill | None:
        """Advance a backfill, and return it; None if there is none.

        No run begins while its job is paused or removed, its tenant is paused or the global switch is off,
        nor in a region that is not active.

        Raises:
            BackendUnavailable: some work is left; the next call does it.
        """
        return change_with_retry(partial(self._advance, ref), f"backfill {ref.id} of job {ref.job.name}")

    def _advance(self, ref: BackfillRef) -> Backfill | Conflict | None:
        backfill = self._jobs.find_backfill(ref)
        if backfill is None or backfill.is_over:
            return backfill
        job, now = self._jobs.get(ref.job), self._clock.now()
        if job is None:
            return None
        definition = self._definition(job, backfill)
        if definition is None:  # it has run for longer than versions are stored
            return self._given_up(backfill, now)
        after = backfill.counted(self._statuses(backfill, job, definition, now))
        if after.state is BackfillState.RUNNING and job.is_live and self._may_begin(ref.tenant_id):
            after = self._extended(after, job, definition, now)
        after = after.settled(now)
        if after == backfill:
            return backfill
        after = replace(after, revision=backfill.revision + 1)
        if not self._jobs.change_backfill(backfill, after):
            return CHANGED
        if after.is_over:
            self._meter.add(Metric.BACKFILL_ENDED, of=Subject(definition.type, ref.tenant_id))
        for at in (at for at in after.open if at not in backfill.open):
            self._actions.put(self._row(after, job, definition, at, now))
        return after

    def _definition(self, job: Job, backfill: Backfill) -> Definition | None:
        if job.version == backfill.version:
            return job.definition
        versions = self._jobs.versions(job.ref)
        return next((found.definition for found in versions if found.number == backfill.version), None)

    def _given_up(self, backfill: Backfill, now: datetime) -> Backfill | Conflict:
        cancelled = replace(backfill.changed_to(BackfillState.CANCELLED, by=PLANNER, at=now), open=())
        after = replace(cancelled.settled(now), revision=backfill.revision + 1)
        return after if self._jobs.change_backfill(backfill, after) else CHANGED

    def _may_begin(self, tenant_id: TenantId) -> bool:
        is_paused = self._pauses is not None and self._pauses.of_tenant(tenant_id) is not None
        is_active = self._region is None or self._region.is_active()
        return self._settings.enabled and is_active and not is_paused

    def _statuses(
        self, backfill: Backfill, job: Job, definition: Definition, now: datetime
    ) -> Mapping[datetime, Status]:
        """Return the statuses of the open times; put the missing rows, and cancel them if it is cancelled."""
        rows = self._rows(backfill)
        is_cancelled, is_changed = backfill.state is BackfillState.CANCELLED, False
        by, kept_until = backfill.changed_by or PLANNER, now + self._settings.retention
        for at in backfill.open:
            row = rows.get(at)
            if row is None:
                new, is_changed = self._row(backfill, job, definition, at, now), True
                ended = transition.cancelled(new, by=by, at=now, kept_until=kept_until)
                self._actions.put(ended if is_cancelled else new)
            elif is_cancelled and not row.status.is_final and row.cancel_request is None:
                is_changed = True
                self._cancel(row, backfill, by=by, now=now)
        if is_changed:
            rows = self._rows(backfill)
        return {at: row.status for at, row in rows.items()}

    def _rows(self, backfill: Backfill) -> Mapping[datetime, Action]:
        rows = self._actions.get_rows([backfill.run_ref(at) for at in backfill.open]) if backfill.open else ()
        return {ids.nominal_at(row.id): row for row in rows}

    def _cancel(self, row: Action, backfill: Backfill, *, by: str, now: datetime) -> None:
        """Cancel a pending run, or request that a running one stops; the next call finds what has changed."""
        if row.status is Status.PROCESSING:
            requested = self._actions.ask_to_cancel(row, by=by, at=now).action
            if requested is not None:
                self._end_hand_over.obey_cancel(requested, now=now)
            return
        ended = transition.cancelled(row, by=by, at=now, kept_until=now + self._settings.retention)
        self._jobs.end_pending(row, ended, backfill.ref.job)

    def _extended(self, backfill: Backfill, job: Job, definition: Definition, now: datetime) -> Backfill:
        """Return the backfill with further open times, up to its bound."""
        past = PastRuns(self._backends, job, now)
        times = rest_of(backfill, job.cadences_of(definition))
        looks, chunk = 0, 1
        while (free := backfill.at_once - len(backfill.open)) > 0 and looks < _MOST_LOOKS:
            some = tuple(islice(times, max(chunk, free)))
            if not some:
                return backfill.exhausted()
            left_out = {} if backfill.again else past.left_out(some, backfill)
            for at in some:
                if len(backfill.open) < backfill.at_once:
                    backfill = backfill.examined(at, is_left_out=at in left_out)
            looks, chunk = looks + len(some), min(max(chunk, free) * 2, _LARGEST_CHUNK)
        return backfill

    def _row(
        self, backfill: Backfill, job: Job, definition: Definition, at: datetime, now: datetime
    ) -> Action:
        action_id = backfill.run_id(at)
        names = job.cadences_of(definition).names_at(at)
        return Action(
            tenant_id=job.ref.tenant_id,
            id=action_id,
            type=definition.type,
            due_at=now,
            first_due_at=at,
            due_shard=ids.due_shard_of(action_id, len(self._actions.due_shards)),
            created_by=backfill.begun_by,
            payload=definition.payload,
            payload_version=definition.payload_version,
            planned=RunPlan(now, next(iter(names), None)),
        )


def rest_of(backfill: Backfill, cadence_set: CadenceSet) -> Iterator[datetime]:
    """Yield the nominal times that are not examined yet, in the backfill's order."""
    if backfill.order is BackfillOrder.OLDEST:
        yield from times_between(cadence_set, backfill.rest_from, backfill.rest_until)
        return
    at = cadence_set.last_before(backfill.rest_until)
    while at is not None and at >= backfill.rest_from:
        yield at
        at = cadence_set.last_before(at)


def times_between(cadence_set: CadenceSet, start: datetime, until: datetime) -> Iterator[datetime]:
    """Yield the nominal times in [start, until), oldest first."""
    for due in cadence_set.after(start - _LEAST):
        if due.at >= until:
            return
        yield due.at


FORGOTTEN = "forgotten"
"""The status of a time whose row was removed after the retention."""

_SLACK = timedelta(hours=1)
"""Longer than a change of version takes: a time at that change may belong to both versions."""
_PAGE = 200
_RAN = (Status.EXECUTED, Status.PROCESSING, Status.PENDING)


class PastRuns:
    """The past runs of one job, as they are now: those nominal times a backfill leaves out.

    A time is left out if a row of it was executed, or is pending or processing, in whatever version of the
    job or backfill. A time whose row was removed after the retention is left out too: its run is unknown.
    Times that failed, or were skipped or missed, are not left out.
    """

    def __init__(self, backends: JobTables, job: Job, now: datetime) -> None:
        self._actions, self._jobs, self._job = backends.store, backends.jobs, job
        self._known_since = now - backends.settings.retention

    def left_out(self, times: Sequence[datetime], but: Backfill | None = None) -> Mapping[datetime, str]:
        """Return those of some nominal times that already ran, or will, each with its status.

        Args:
            times: the nominal times, in a range without many others.
            but: the backfill whose own runs do not count.
        """
        requested, found = set(times), dict[datetime, Status]()
        for row in self._rows(min(times), max(times)):
            at = ids.nominal_at(row.id)
            is_own = but is not None and ids.backfill_of(row.id) == but.id
            if not is_own and not ids.is_manual_run(row.id) and row.status in _RAN:
                found[at] = min(row.status, found.get(at, row.status), key=_RAN.index)
        unknown = {at for at in requested - found.keys() if self._is_forgotten(at)}
        return {
            at: found[at].value if at in found else FORGOTTEN for at in times if at in found or at in unknown
        }

    def _rows(self, first: datetime, last: datetime) -> Iterator[Action]:
        for number in sorted(self._numbers(first, last)):
            cursor = None
            while True:
                page = self._actions.occurrences(
                    self._job.ref.tenant_id,
                    self._job.name,
                    number,
                    after=first - _LEAST,
                    until=last,
                    limit=_PAGE,
                    cursor=cursor,
                )
                yield from page
                if (cursor := page.cursor) is None:
                    break

    def _numbers(self, first: datetime, last: datetime) -> set[int]:
        """Return the versions that may have rows in a range: in force then, or of a backfill."""
        planned = {
            version.number
            for version in self._versions
            if version.since - _SLACK < last and (version.until is None or first < version.until + _SLACK)
        }
        return planned | {found.version for found in self._backfills if found.overlaps(first, last + _LEAST)}

    def _is_forgotten(self, at: datetime) -> bool:
        """Return whether a time without a row was planned, and its row may have been removed."""
        if at > self._known_since or at <= self._job.anchor:
            return False
        version = next((version for version in self._versions if _was_in_force(version, at)), None)
        if version is None:
            return True
        names = self._job.cadences_of(version.definition).names_at(at)
        return any(not self._has_span(at, name) for name in names)

    def _has_span(self, at: datetime, cadence: str) -> bool:
        return any(
            span.start < at <= span.end and span.cadence in {WHOLE_JOB, cadence} for span in self._spans
        )

    @lazy_property
    def _versions(self) -> Sequence[Version]:
        return self._jobs.versions(self._job.ref)

    @lazy_property
    def _backfills(self) -> Sequence[Backfill]:
        return self._jobs.backfills(self._job.ref)

    @lazy_property
    def _spans(self) -> Sequence[JobSpan]:
        return self._jobs.spans(self._job.ref, self._job.anchor, self._known_since)


def _was_in_force(version: Version, at: datetime) -> bool:
    return version.since < at and (version.until is None or at <= version.until)
