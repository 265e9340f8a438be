"""Stop a tenant's work: remove its jobs with their wakes, cancel pending actions, end running ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial

from duetime.actions.cancel import cancel
from duetime.aws.backends import AwsBackends
from duetime.clock import Clock
from duetime.errors import DuetimeError
from duetime.jobs.change_with_retry import CHANGED, Conflict, change_with_retry
from duetime.jobs.desired_wakes import name_of, previous_wakes, wakes_of
from duetime.jobs.job_versions import JobVersions
from duetime.model.action import Action, ActionRef, Status
from duetime.model.job import JobRef
from duetime.settings import Settings
from duetime.wakeups.due_messages import message_of

_POLL = timedelta(seconds=1)


class StopWork:
    """Stops jobs and actions, and counts what it stopped.

    Args:
        backends: the deployment's.
        clock: the present time.
        settings: the deployment's.
        by: the actor of the changes.
        counts: receives the counts, by kind.
    """

    def __init__(
        self, backends: AwsBackends, clock: Clock, settings: Settings, *, by: str, counts: Counter[str]
    ) -> None:
        self._backends, self._clock, self._settings = backends, clock, settings
        self._by, self._counts = by, counts
        self._versions = JobVersions(backends)

    def job(self, ref: JobRef) -> None:
        """Remove a job, so that nothing plans it, and its schedules and rules from EventBridge."""
        names = {(kind, name_of(ref, 0, self._settings)) for kind in ("schedule", "rule")}
        try:
            job = self._backends.jobs.get(ref)
        except DuetimeError:  # a forged job: no pass maintains it
            job = None
        if job is not None:
            desired = wakes_of(job, self._clock.now(), self._settings)
            names |= {*previous_wakes(job, self._settings), *((wake.kind, wake.name) for wake in desired)}
            if job.removed_at is None:
                change_with_retry(lambda: self._remove(ref), f"job {ref.name}")
                self._counts["jobs removed"] += 1
        for kind, name in sorted(names):
            self._backends.job_wakes.remove(kind, name)

    def _remove(self, ref: JobRef) -> Conflict | None:
        job = self._backends.jobs.get(ref)
        if job is None or job.removed_at is not None:
            return None
        return None if self._versions.remove(job, "its tenant was erased") else CHANGED

    def actions(self, rows: Sequence[Action]) -> None:
        """Cancel pending actions and remove their timers; request that running ones stop."""
        for row in rows:
            if row.status.is_final:
                continue
            now = self._clock.now()
            cancel(
                partial(self._current, row.ref),
                self._backends.store,
                lambda: self._backends.jobs,
                by=self._by,
                at=now,
                kept_until=now + self._settings.retention,
            )
            if row.status is Status.PENDING:
                self._backends.timers.clear(message_of(row))
                self._counts["actions cancelled"] += 1
            elif row.cancel_requested_at is None:
                self._counts["runs requested to stop"] += 1

    def _current(self, ref: ActionRef) -> Action | None:
        return next(iter(self._backends.store.get_rows([ref])), None)

    def running(self, rows: Sequence[Action], until: datetime) -> frozenset[ActionRef]:
        """Wait until `until` for the runs of these rows to end; return those that still run.

        A run whose lease has ended counts as ended, since its worker has died.
        """
        refs = [row.ref for row in rows if row.status is Status.PROCESSING]
        while refs:
            now = self._clock.now()
            found = self._backends.store.get_rows(refs)
            refs = [row.ref for row in found if row.status is Status.PROCESSING and self._is_alive(row, now)]
            if now >= until:
                break
            if refs:
                self._clock.wait_until(now + _POLL)
        return frozenset(refs)

    def _is_alive(self, row: Action, now: datetime) -> bool:
        return row.lease_until is None or row.lease_until + self._settings.clock_skew >= now
