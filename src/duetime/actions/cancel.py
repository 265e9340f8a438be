"""The cancel: a pending action will not run; a running one is asked to stop."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from duetime import ids
from duetime.errors import BackendUnavailable
from duetime.model import transition
from duetime.model.action import ActionRef, Status
from duetime.model.job import JobRef
from duetime.model.lease import Applied, Rejected
from duetime.ports.actions import ActionStore
from duetime.ports.jobs import JobStore

_RACES = 5


def cancel(
    ref: ActionRef,
    store: ActionStore,
    jobs: Callable[[], JobStore] | None,
    *,
    by: str,
    at: datetime,
    expires_at: datetime,
) -> Applied | Rejected:
    """Cancel a pending action; ask a running one to stop. Refused for one that is settled already, or not there.

    Raises:
        BackendUnavailable: the action kept changing.
    """
    for _ in range(_RACES):
        pending = _cancel_pending(ref, store, jobs, by=by, at=at, expires_at=expires_at)
        if isinstance(pending, Applied) or pending.action is None or pending.action.status.is_final:
            return pending
        running = store.ask_to_cancel(ref, by=by, at=at)
        if isinstance(running, Applied):
            return running
    raise BackendUnavailable("the actions table", "the action kept changing while it was being cancelled")


def _cancel_pending(
    ref: ActionRef,
    store: ActionStore,
    jobs: Callable[[], JobStore] | None,
    *,
    by: str,
    at: datetime,
    expires_at: datetime,
) -> Applied | Rejected:
    """Cancel a pending action; the lock of its job, which it may hold between two attempts, is freed with it."""
    job = ids.job_of(ref.id)
    if job is None or jobs is None:
        return store.cancel(ref, by=by, at=at, expires_at=expires_at)
    row = store.get(ref)
    if row is None or row.status is not Status.PENDING:
        return Rejected(row)
    ended = transition.cancelled(row, by=by, at=at, expires_at=expires_at)
    is_done = jobs().end_pending(row, ended, JobRef(row.job_tenant or row.tenant_id, job))
    return Applied(ended) if is_done else Rejected(row)
