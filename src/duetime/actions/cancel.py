"""Cancel a pending action; request the stop of a running one."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from duetime.errors import BackendUnavailable
from duetime.jobs.change_with_retry import CHANGED, Conflict, retry_on_conflict
from duetime.model import transition
from duetime.model.action import Action, Status
from duetime.model.job import job_ref_of
from duetime.model.lease import Applied, Rejected
from duetime.ports.action_store import ActionStore
from duetime.ports.job_store import JobStore


def cancel(
    read: Callable[[], Action | None],
    store: ActionStore,
    jobs: Callable[[], JobStore] | None,
    *,
    by: str,
    at: datetime,
    kept_until: datetime,
) -> Applied | Rejected:
    """Cancel a pending action, or request that a running one stops; reject a settled or unknown one.

    Args:
        read: returns the action's row; after a change by another writer it is called again.
        store: holds the rows.
        jobs: loads the store of jobs, which holds their locks; None if the back end has no jobs.
        by: the actor.
        at: the time of the change.
        kept_until: when a cancelled row may be removed.

    Raises:
        BackendUnavailable: the action kept changing.
    """

    def cancelled() -> Applied | Rejected | Conflict:
        row = read()
        if row is None or row.status.is_final:
            return Rejected(row)
        if row.status is Status.PROCESSING:
            outcome = store.ask_to_cancel(row, by=by, at=at)
        else:
            changed_at = row.next_change_at(at)
            outcome = _cancel_pending(row, store, jobs, by=by, at=changed_at, kept_until=kept_until)
        return outcome if isinstance(outcome, Applied) else CHANGED

    outcome = retry_on_conflict(cancelled)
    if isinstance(outcome, Conflict):
        raise BackendUnavailable("the actions table", "the action kept changing")
    return outcome


def _cancel_pending(
    row: Action,
    store: ActionStore,
    jobs: Callable[[], JobStore] | None,
    *,
    by: str,
    at: datetime,
    kept_until: datetime,
) -> Applied | Rejected:
    """Cancel a pending action, and free the lock of its job, which it may hold between two attempts."""
    job = job_ref_of(row)
    if job is None or jobs is None:
        return store.cancel(row, by=by, at=at, kept_until=kept_until)
    ended = transition.cancelled(row, by=by, at=at, kept_until=kept_until)
    is_done = jobs().end_pending(row, ended, job)
    return Applied(ended) if is_done else Rejected(row)
