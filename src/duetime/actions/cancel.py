"""Cancel a pending action; request the stop of a running one."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from duetime import ids
from duetime.errors import BackendUnavailable
from duetime.jobs.change_with_retry import CHANGED, Conflict, retry_on_conflict
from duetime.model import transition
from duetime.model.action import ActionRef, Status
from duetime.model.job import JobRef
from duetime.model.lease import Applied, Rejected
from duetime.ports.actions import ActionStore
from duetime.ports.jobs import JobStore


def cancel(
    ref: ActionRef,
    store: ActionStore,
    jobs: Callable[[], JobStore] | None,
    *,
    by: str,
    at: datetime,
    expires_at: datetime,
) -> Applied | Rejected:
    """Cancel a pending action, or request that a running one stops; reject a settled or unknown one.

    Raises:
        BackendUnavailable: the action kept changing.
    """

    def cancelled() -> Applied | Rejected | Conflict:
        pending = _cancel_pending(ref, store, jobs, by=by, at=at, expires_at=expires_at)
        if isinstance(pending, Applied) or pending.action is None or pending.action.status.is_final:
            return pending
        running = store.ask_to_cancel(ref, by=by, at=at)
        return running if isinstance(running, Applied) else CHANGED

    outcome = retry_on_conflict(cancelled)
    if isinstance(outcome, Conflict):
        raise BackendUnavailable("the actions table", f"action {ref.id} kept changing")
    return outcome


def _cancel_pending(
    ref: ActionRef,
    store: ActionStore,
    jobs: Callable[[], JobStore] | None,
    *,
    by: str,
    at: datetime,
    expires_at: datetime,
) -> Applied | Rejected:
    """Cancel a pending action, and free the lock of its job, which it may hold between two attempts."""
    job = ids.job_of(ref.id)
    if job is None or jobs is None:
        return store.cancel(ref, by=by, at=at, expires_at=expires_at)
    row = store.get(ref)
    if row is None or row.status is not Status.PENDING:
        return Rejected(row)
    ended = transition.cancelled(row, by=by, at=at, expires_at=expires_at)
    is_done = jobs().end_pending(row, ended, JobRef(row.job_tenant or row.tenant_id, job))
    return Applied(ended) if is_done else Rejected(row)
