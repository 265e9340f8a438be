"""*Failover*: move the epoch, wait until no lease of the former region can be live, and take over.

::

    fence ── the next epoch, in which no region claims
      │ wait: readings are trusted for 15 s, then a lease ends
    activate ── the target claims
      │
    reconcile ── jobs, timers and messages are made from the rows

Each step may be repeated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from duetime import instant
from duetime.clock import Clock
from duetime.errors import BackendUnavailable, DuetimeError, OperationFailed
from duetime.jobs.change_with_retry import CHANGED, Conflict, change_with_retry
from duetime.jobs.maintain import changed, refs_until
from duetime.jobs.missing_times import times_without_rows
from duetime.model.action import Action, Status
from duetime.model.active_region import ActiveRegion, quiet_time
from duetime.model.change import Change
from duetime.model.job import Job, JobRef
from duetime.ports.backends import Backends
from duetime.ports.regions import ActiveRegions
from duetime.settings import MOST_DUE_SHARDS, Settings
from duetime.wakeups.assembly import Steps
from duetime.wakeups.due_messages import message_of, send_wakes

REWIND = timedelta(minutes=15)
"""Rows written within this time before the failover may be missing: much more than the usual lag."""

_PAGE = 100
_SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciled:
    """What was made from the rows.

    Attributes:
        jobs: the jobs that were maintained.
        missing: nominal times that had no row here, by job; they are planned again.
        armed: pending actions with a new wake.
        sent: runs of the former region, to be taken over.
        failed: the jobs that could not be maintained; the sweep tries again.
    """

    jobs: int = 0
    missing: dict[JobRef, Sequence[datetime]]
    armed: int = 0
    sent: int = 0
    failed: Sequence[JobRef] = ()


class Switch:
    """Moves the epoch.

    Args:
        regions: the item, as the region reads it that becomes active.
        clock: the present time.
        settings: those of both regions.
        by: the operator.
    """

    def __init__(self, regions: ActiveRegions, *, clock: Clock, settings: Settings, by: str) -> None:
        self._regions, self._clock, self._settings, self._by = regions, clock, settings, by

    @property
    def quiet_time(self) -> timedelta:
        """How long a lease of the former region may be live after the epoch has moved."""
        return quiet_time(self._settings.lease, self._settings.clock_skew)

    def fence(self, target: str) -> ActiveRegion:
        """Move the epoch, so that no region claims; a failover to `target` that is under way goes on.

        Raises:
            OperationFailed: the target is active; nothing was changed.
            BackendUnavailable: another operator moves the epoch, or the item cannot be written.
        """

        def move() -> ActiveRegion | Conflict:
            old = self._regions.read()
            if old is None:
                first = ActiveRegion(
                    epoch=1, region="", target=target, moved_at=self._clock.now(), by=self._by
                )
                return first if self._regions.change(None, first) else CHANGED
            if old.region == target:
                raise OperationFailed(
                    f"{target} is active already, at epoch {old.epoch}; nothing was changed. To make its"
                    " jobs, timers and messages from the rows again, add --reconcile"
                )
            if not old.region and old.target == target:
                return old
            new = old.fenced(target, at=self._clock.now(), by=self._by)
            return new if self._regions.change(old, new) else CHANGED

        return change_with_retry(move, "the active region", table="the regions table")

    def wait(self, since: float, quiet_time: timedelta) -> None:
        """Wait for this time; `since` is the clock's `elapsed` after the epoch has moved."""
        left = quiet_time.total_seconds() - (self._clock.elapsed() - since)
        if left > 0:
            self._clock.wait_until(self._clock.now() + timedelta(seconds=left))

    def activate(self, fenced: ActiveRegion) -> ActiveRegion:
        """Let the target claim.

        Raises:
            BackendUnavailable: another operator has moved the epoch meanwhile, or it cannot be written.
        """
        active = fenced.activated()
        if not self._regions.change(fenced, active):
            raise BackendUnavailable(
                "the regions table", f"another operator has moved epoch {fenced.epoch} meanwhile"
            )
        return active


class TakeOver:
    """Makes wakes from the rows, in the region that has become active. A repeat is safe."""

    def __init__(self, backends: Backends) -> None:
        self._backends, self._clock, self._steps = backends, backends.clock, Steps(backends)

    def __call__(self, moved_at: datetime) -> Reconciled:
        """Wake all unsettled actions, then plan jobs and set their EventBridge schedules."""
        armed, sent = 0, 0
        for rows in self._unsettled():
            pending = [row for row in rows if row.status is Status.PENDING]
            running = [row for row in rows if row.status is Status.PROCESSING]
            self._steps.arm([Change(None, row) for row in pending])
            send_wakes(
                [message_of(row) for row in running],
                self._backends.queues,
                self._backends.routes,
                self._clock,
            )
            armed, sent = armed + len(pending), sent + len(running)
        missing, failed, jobs = dict[JobRef, Sequence[datetime]](), list[JobRef](), 0
        for ref in list(refs_until(self._backends.jobs, instant.LATEST)):
            try:
                if times := self._take_job(ref, moved_at - REWIND):
                    missing[ref] = times
                jobs += 1
            except DuetimeError:
                failed.append(ref)
        return Reconciled(jobs=jobs, missing=missing, armed=armed, sent=sent, failed=failed)

    def _take_job(self, ref: JobRef, start: datetime) -> Sequence[datetime]:
        """Plan a job, whose wakes EventBridge does not have here; return the times without rows."""

        def write() -> Sequence[datetime] | Conflict:
            job = self._backends.jobs.get(ref)
            if job is None:
                return ()
            times = sorted(times_without_rows(job, self._backends.store, start, job.cursor))
            return times if self._backends.jobs.change(job, self._after(job, times)) else CHANGED

        times = change_with_retry(write, f"job {ref.name}")
        self._steps.maintain(ref)
        return times

    def _after(self, job: Job, times: Sequence[datetime]) -> Job:
        """Return the job with stale wakes, and with its cursor before the first time without a row."""
        after = changed(job, self._clock.now())
        return replace(after, cursor=times[0] - _SECOND) if times else after

    def _unsettled(self) -> Iterator[Sequence[Action]]:
        """Yield pages of rows, without those that a restore holds."""
        store = self._backends.store
        for shard in map(str, range(MOST_DUE_SHARDS)):
            cursor = None
            while True:
                page = store.due(shard, after=None, until=instant.LATEST, limit=_PAGE, cursor=cursor)
                rows = store.get_rows([entry.ref for entry in page.entries]) if page.entries else ()
                yield [row for row in rows if row.due_at < instant.LATEST]
                cursor = page.cursor
                if cursor is None:
                    break
