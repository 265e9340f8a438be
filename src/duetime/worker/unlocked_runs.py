"""Find the runs that began without their job's lock, before a change ended the policy `allow`.

A backfill's runs never hold the lock, and are not among them.

They are in the due index, as is every unsettled row: also retries, redriven runs, and runs that events
started for other tenants. The index may lag, and a claim under the old policy may be under way; therefore the
search begins a minute after the change. It takes place only until a claim has found no such run.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import datetime, timedelta

from duetime import ids
from duetime.model.action import ActionRef, Status, Trigger
from duetime.model.job import Job, Overlap, job_ref_of
from duetime.model.lease import ClaimTerms
from duetime.ports.actions import ActionStore, DamagedRow, Holder
from duetime.settings import MOST_DUE_SHARDS
from duetime.worker.read_holders import read_holders

SETTLED_AFTER = timedelta(minutes=1)
"""Longer than a claim's request, and the lag of the index."""

_PAGE = 1_000
_SHARDS = tuple(map(str, range(MOST_DUE_SHARDS)))
"""All that rows may be in, whatever `due_shards` was when they were put. The surplus ones come second."""


def needs_search(job: Job) -> bool:
    """Return whether runs without the lock may be in progress, also beside a run that holds it already."""
    is_locking = job.definition.overlap is not Overlap.ALLOW
    return is_locking and job.unlocked_since is not None


def find_unlocked(
    actions: ActionStore, job: Job, ref: ActionRef, terms: ClaimTerms
) -> tuple[Holder, ...] | None:
    """Return the rows of runs in progress without the lock, or None if these are not known yet.

    Args:
        actions: the rows.
        job: the job, as read before.
        ref: the run that claims; it is left out.
        terms: the claim's.
    """
    if not needs_search(job):
        return ()
    if job.unlocked_since is None or terms.now < job.unlocked_since + SETTLED_AFTER + terms.skew:
        return None
    others = {ref, job.running}
    found: list[Holder] = []
    for shards in (actions.due_shards, set(_SHARDS) - {*actions.due_shards}):
        rows = read_holders(actions, [*_due(actions, job, shards, terms.now + terms.skew)], terms).values()
        found += (row for row in rows if _is_run_of(row, job) and row.ref not in others)
        if any(row.lease_until is not None and row.lease_until > terms.now for row in found):
            break  # a live one decides; those in surplus shards matter only without it
    return tuple(found)


def _is_run_of(row: Holder, job: Job) -> bool:
    """Return whether a row is a run of this job in progress. A damaged one may be."""
    if isinstance(row, DamagedRow):
        return row.may_run and (row.ref.tenant_id == job.ref.tenant_id or ids.is_event_run(row.ref.id))
    is_in_progress = row.status is Status.PROCESSING and row.trigger is not Trigger.BACKFILL
    return is_in_progress and job_ref_of(row) == job.ref


def _due(actions: ActionStore, job: Job, shards: Collection[str], until: datetime) -> Iterator[ActionRef]:
    """Yield the unsettled runs of jobs of this name in some due shards, in all tenants."""
    for shard in shards:
        cursor = None
        while True:
            page = actions.due(shard, after=None, until=until, limit=_PAGE, cursor=cursor)
            yield from (entry.ref for entry in page.entries if ids.job_of(entry.ref.id) == job.name)
            if (cursor := page.cursor) is None:
                break
