"""Backfills for operators: begin one, preview it, follow its progress, pause, resume and cancel it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice

from duetime import ids, instant
from duetime.declare.timed_cadences import has_times
from duetime.errors import DuetimeError, InvalidArgument, NotFound, StateConflict, UnknownType
from duetime.instant import When
from duetime.jobs.advance_backfill import AdvanceBackfill, PastRuns, times_between
from duetime.jobs.change_with_retry import CHANGED, Conflict, change_with_retry
from duetime.jobs.plan import Plan
from duetime.jobs.tenant_context import TenantContext
from duetime.model.backfill import (
    MOST_AT_ONCE,
    MOST_TIMES,
    Backfill,
    BackfillOrder,
    BackfillRef,
    BackfillState,
)
from duetime.model.job import Job
from duetime.ports.backends import JobTables
from duetime.ports.wakeups import Routes

_CHUNK = 500


@dataclass(frozen=True, slots=True)
class BackfillPreview:
    """What a backfill would run.

    Attributes:
        times: all nominal times in the range, oldest first.
        left_out: those that it would leave out, with the status of their runs; ``forgotten`` if the row was
            removed after the retention.
    """

    times: tuple[datetime, ...]
    left_out: Mapping[datetime, str]

    @property
    def to_run(self) -> tuple[datetime, ...]:
        """The times that it would run."""
        return tuple(at for at in self.times if at not in self.left_out)


class BackfillOperations:
    """Begins and changes backfills in the name of one actor."""

    def __init__(
        self, context: TenantContext, tables: JobTables, routes: Routes, get: Callable[[str], Job]
    ) -> None:
        self._context, self._tables, self._jobs = context, tables, tables.jobs
        self._routes, self._get = routes, get
        self._plan, self._advance = Plan(tables), AdvanceBackfill(tables)

    def begin(
        self, name: str, start: When, until: When, *, at_once: int, order: BackfillOrder | str, again: bool
    ) -> Backfill:
        """Begin a backfill; see `Jobs.backfill`."""
        ref = self._get(name).ref
        if not 1 <= at_once <= MOST_AT_ONCE:
            raise InvalidArgument(
                f"is out of range; 1 to {MOST_AT_ONCE} are allowed", field="at_once", value=at_once
            )
        chosen, now = _order(order), self._context.clock.now()
        first, end = self._range(start, until, now)
        self._plan(ref)  # what has passed has its rows, or its span

        def begin() -> Backfill | Conflict:
            job = self._get(name)
            new = Backfill(
                ref=BackfillRef(job.ref, ids.new_backfill_id(self._context.random_bytes)),
                version=job.version,
                start=first,
                until=end,
                order=chosen,
                at_once=at_once,
                again=again,
                total=len(self._times(job, first, end)),
                begun_by=self._context.actor,
                begun_at=now,
                rest_from=first,
                rest_until=end,
            )
            if (same := self._beside(job, new)) is not None:
                return same
            return new if self._jobs.begin_backfill(job, new) else CHANGED

        return self._advanced(change_with_retry(begin, f"job {name}"))

    def preview(self, name: str, start: When, until: When, *, again: bool) -> BackfillPreview:
        """Return what a backfill would run; see `Jobs.preview_backfill`."""
        job, now = self._get(name), self._context.clock.now()
        first, end = self._range(start, until, now)
        times = self._times(job, first, end)
        if again:
            return BackfillPreview(times, {})
        past = PastRuns(self._tables, job, now)
        left_out = dict[datetime, str]()
        for place in range(0, len(times), _CHUNK):
            left_out |= past.left_out(times[place : place + _CHUNK])
        return BackfillPreview(times, left_out)

    def all_of(self, name: str) -> Sequence[Backfill]:
        """Return a job's backfills, the latest first."""
        return self._jobs.backfills(self._get(name).ref)

    def get(self, name: str, backfill_id: str) -> Backfill:
        """Return one backfill.

        Raises:
            NotFound: the job has no such backfill.
        """
        ref = BackfillRef(self._get(name).ref, backfill_id)
        found = self._jobs.find_backfill(ref) if ids.is_backfill_id(backfill_id) else None
        if found is None:
            raise _no_backfill(name, "backfill", backfill_id)
        return found

    def pause(self, name: str, backfill_id: str | None) -> Backfill:
        """Pause a backfill; see `Jobs.pause_backfill`."""
        return self._change(name, backfill_id, "pause", BackfillState.PAUSED)

    def resume(self, name: str, backfill_id: str | None) -> Backfill:
        """Resume a backfill; see `Jobs.resume_backfill`."""
        return self._change(name, backfill_id, "resume", BackfillState.RUNNING)

    def cancel(self, name: str, backfill_id: str | None) -> Backfill:
        """Cancel a backfill; see `Jobs.cancel_backfill`."""
        return self._change(name, backfill_id, "cancel", BackfillState.CANCELLED)

    def _change(self, name: str, backfill_id: str | None, operation: str, state: BackfillState) -> Backfill:
        now = self._context.clock.now()
        ref = self._chosen(name, backfill_id, operation).ref

        def change() -> Backfill | Conflict:
            backfill = self.get(name, ref.id)
            if backfill.state is state:
                return backfill
            if backfill.is_over or backfill.state is BackfillState.CANCELLED:
                problem = f"it is {backfill.state.value}; only a running or paused one can be changed"
                raise StateConflict(
                    f"cannot {operation} backfill {ref.id} of job {name}", problem, code="backfill-conflict"
                )
            changed = backfill.changed_to(state, by=self._context.actor, at=now)
            changed = replace(changed.settled(now), revision=backfill.revision + 1)
            return changed if self._jobs.change_backfill(backfill, changed) else CHANGED

        return self._advanced(change_with_retry(change, f"backfill {ref.id} of job {name}"))

    def _chosen(self, name: str, backfill_id: str | None, operation: str) -> Backfill:
        if backfill_id is not None:
            return self.get(name, backfill_id)
        unfinished = [backfill for backfill in self.all_of(name) if not backfill.is_over]
        if not unfinished:
            raise _no_backfill(name, "unfinished backfill", None)
        if len(unfinished) > 1:
            names = ", ".join(backfill.id for backfill in unfinished)
            problem = f"it has {len(unfinished)} of them: {names}; name one"
            raise StateConflict(
                f"cannot {operation} the backfill of job {name}", problem, code="backfill-conflict"
            )
        return unfinished[0]

    def _advanced(self, backfill: Backfill) -> Backfill:
        """Advance a backfill at once; after an error, the sweep does."""
        with suppress(DuetimeError):
            return self._advance(backfill.ref) or backfill
        return backfill

    def _range(self, start: When, until: When, now: datetime) -> tuple[datetime, datetime]:
        first = instant.resolve(start, now=now, field="from")
        end = instant.resolve(until, now=now, field="until")
        if first >= end:
            problem = f"is not before until, {instant.text(end)}; the first is included, the second is not"
            raise InvalidArgument(problem, field="from", value=instant.text(first))
        if end > now:
            problem = "is in the future; a backfill runs past nominal times, so use the present at most"
            raise InvalidArgument(problem, field="until", value=instant.text(end))
        return first, end

    def _times(self, job: Job, start: datetime, until: datetime) -> tuple[datetime, ...]:
        """Return the nominal times of a range, after all checks of the job."""
        self._check(job)
        times = tuple(islice(times_between(job.cadence_set, start, until), MOST_TIMES + 1))
        if not times:
            following = job.cadence_set.next_after(start)
            next_one = f"; the next is {instant.text(following)}" if following else ""
            raise InvalidArgument(f"has no nominal time{next_one}", field="from", value=_shown(start, until))
        if len(times) > MOST_TIMES:
            problem = f"has more than {MOST_TIMES:,} nominal times; end the first part at"
            raise InvalidArgument(
                f"{problem} {instant.text(times[MOST_TIMES])}", field="from", value=_shown(start, until)
            )
        return times

    def _check(self, job: Job) -> None:
        """Check that a job can be backfilled now.

        Raises:
            StateConflict: it is removed or paused, or has no nominal times.
            UnknownType: no deployed worker has its handler.
        """
        problem = _problem_of(job)
        if problem is not None:
            raise StateConflict(f"cannot backfill job {job.name}", problem, code="job-conflict")
        if self._routes.queue_for(job.definition.type) is None:
            raise UnknownType(job.definition.type, self._routes.types())

    def _beside(self, job: Job, new: Backfill) -> Backfill | None:
        """Return the backfill that an earlier try of this call began.

        Raises:
            StateConflict: another one has a part of the range.
        """
        for other in self._jobs.backfills(job.ref):
            if other.is_over or not other.overlaps(new.start, new.until):
                continue
            if _terms(other) == _terms(new):
                return other
            problem = (
                f"backfill {other.id} of {other.begun_by} is {other.state.value}, and has"
                f" {_shown(other.start, other.until)}; choose another range, or cancel that one"
            )
            raise StateConflict(
                f"cannot begin a backfill of job {job.name}", problem, code="backfill-conflict"
            )
        return None


def _terms(backfill: Backfill) -> tuple[object, ...]:
    """Return what a repeated call repeats."""
    chosen = (backfill.version, backfill.start, backfill.until, backfill.order, backfill.at_once)
    return (*chosen, backfill.again, backfill.begun_by)


def _order(order: BackfillOrder | str) -> BackfillOrder:
    if order not in {*BackfillOrder}:
        raise InvalidArgument(f"is unknown; use {' or '.join(BackfillOrder)}", field="order", value=order)
    return BackfillOrder(order)


def _problem_of(job: Job) -> str | None:
    if job.removed_at is not None:
        return f"code no longer declares it, since {instant.text(job.removed_at)}"
    if job.definition.self_scheduled:
        return "the clock runs it, and its runs are not planned"
    if job.is_paused:
        return "it is paused; resume it first"
    if not has_times(job.cadence_set.cadences):
        return "it has no nominal times: only events or triggers start it"
    return None


def _shown(start: datetime, until: datetime) -> str:
    return f"{instant.text(start)[:19]}Z to {instant.text(until)[:19]}Z"


def _no_backfill(job: str, kind: str, backfill_id: str | None) -> NotFound:
    error = NotFound(kind, backfill_id, f" of job {job}; list them with `duetime jobs backfill {job}`")
    error.code = "backfill-not-found"
    return error
