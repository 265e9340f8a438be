"""*Advance* a backfill: count its ended runs, and begin as many as its bound permits.

Any caller may do so at any time, also several at once: the operator's call, a worker after a run of it, the
sweep each minute. One write replaces the backfill if it is as read; then the rows of the new open times are
put. After a crash in between, the next call puts them: an open time without a row has not begun. A run's id
consists of job, version, nominal time and backfill, so it begins once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from itertools import islice

from duetime import ids
from duetime.clock import Clock
from duetime.ids import PLANNER, TenantId
from duetime.jobs.change_with_retry import CHANGED, Conflict, change_with_retry
from duetime.jobs.end_hand_over import EndHandOver
from duetime.jobs.known_pauses import KnownPauses
from duetime.jobs.known_region import KnownRegion
from duetime.jobs.past_runs import PastRuns
from duetime.model import transition
from duetime.model.action import Action, Status
from duetime.model.backfill import Backfill, BackfillOrder, BackfillRef, BackfillState
from duetime.model.cadence_set import CadenceSet
from duetime.model.job import Definition, Job
from duetime.model.metric import Metric
from duetime.ports.actions import ActionStore
from duetime.ports.jobs import JobStore
from duetime.ports.meter import UNMETERED, Meter, Subject
from duetime.settings import Settings

_MOST_LOOKS = 2_000
"""The most times that one call examines: most of them are left out."""

_LARGEST_CHUNK = 500
_LEAST = timedelta(microseconds=1)


class AdvanceBackfill:
    """Advances one backfill at a time."""

    def __init__(
        self,
        actions: ActionStore,
        jobs: JobStore,
        *,
        clock: Clock,
        settings: Settings,
        pauses: KnownPauses | None = None,
        region: KnownRegion | None = None,
        meter: Meter = UNMETERED,
    ) -> None:
        self._actions, self._jobs, self._pauses, self._region = actions, jobs, pauses, region
        self._clock, self._settings, self._meter = clock, settings, meter
        self._end_hand_over = EndHandOver(actions, lambda: jobs, settings=settings)

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
            elif is_cancelled and not row.status.is_final and row.cancel_requested_at is None:
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
        past = PastRuns(self._actions, self._jobs, job, now=now, retention=self._settings.retention)
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
            cadence=next(iter(names), None),
            planned_at=now,
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
