"""The conditional writes on a job: each of the three parts of its row has its own condition.

::

    change       revision as read              -> next revision
    move cursor  revision and cursor as read   -> cursor
    claim        row as read, revision as read,
                 lock free, held by this action or by a dead run -> processing, lock mine
    settle       row under my fence, lock mine -> final, lock free, tally
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from duetime.aws.conditions import Update
from duetime.aws.job_items import DECLARED, at, declared, holder
from duetime.aws.keys import Item
from duetime.model.action import ActionRef, Status
from duetime.model.job import Job
from duetime.model.run_stats import EndedRun
from duetime.ports.jobs import JobRunClaim, LockRequirement

JOB_IS_THERE = "attribute_exists(pk)"
REVISION_IS_AS_READ = "revision = :revision"
CURSOR_IS_AS_READ = "#cursor = :cursor"
MAINTENANCE_IS_AS_READ = "maintain_at = :read_maintain_at"
LOCK_IS_FREE = "attribute_not_exists(running)"
LOCK_IS_MINE = "running = :me"
LOCK_IS_THE_DEAD_ONES = "running = :dead"
NO_RUN_WAITS = "attribute_not_exists(waiting)"
I_WAIT = "waiting = :me"
WAITING_IS_AS_READ = "waiting = :former"
LOCK_IS_AS_READ = "running = :running"
SEARCH_IS_AS_READ = "unlocked_since = :unlocked"

_ONE = {"N": "1"}


def change(old: Job, new: Job, *, redefines: bool) -> Update:
    """Write the attributes of reconcile and operators, if the revision is as read."""
    attributes = declared(new)
    sets = ["revision = :next", *(f"#{name} = :{name}" for name in attributes)]
    if redefines:
        sets.append("defined_in = :next")
    return {
        "ConditionExpression": REVISION_IS_AS_READ,
        "UpdateExpression": _expression(sets, [f"#{name}" for name in DECLARED if name not in attributes]),
        "ExpressionAttributeNames": {f"#{name}": name for name in DECLARED},
        "ExpressionAttributeValues": {
            **_revision(old),
            ":next": {"N": str(old.revision + 1)},
            **{f":{name}": value for name, value in attributes.items()},
        },
    }


def next_revision(job: Job) -> Update:
    """Count a change beside the job's own items, if the revision is as read."""
    return {
        "ConditionExpression": REVISION_IS_AS_READ,
        "UpdateExpression": "SET revision = :next",
        "ExpressionAttributeValues": {**_revision(job), ":next": {"N": str(job.revision + 1)}},
    }


def move_cursor(job: Job, cursor: datetime, maintain_at: datetime) -> Update:
    """Move the cursor if revision and cursor are as read."""
    return {
        "ConditionExpression": f"{REVISION_IS_AS_READ} AND {CURSOR_IS_AS_READ}",
        "UpdateExpression": "SET #cursor = :next, maintain_at = :maintain_at",
        "ExpressionAttributeNames": {"#cursor": "cursor"},
        "ExpressionAttributeValues": {
            **_revision(job),
            ":cursor": at(job.cursor),
            ":next": at(cursor),
            ":maintain_at": at(maintain_at),
        },
    }


def postpone(job: Job, maintain_at: datetime, failures: int) -> Update:
    """Set the time of the next maintenance if that and the revision are as read."""
    return {
        "ConditionExpression": f"{REVISION_IS_AS_READ} AND {MAINTENANCE_IS_AS_READ}",
        "UpdateExpression": "SET maintain_at = :maintain_at, maintain_failures = :failures",
        "ExpressionAttributeValues": {
            **_revision(job),
            ":read_maintain_at": at(job.maintain_at),
            ":maintain_at": at(maintain_at),
            ":failures": {"N": str(failures)},
        },
    }


def claim_job(taking: JobRunClaim) -> Update:
    """Return the condition of a claim on the job.

    An unchanged revision, and the lock if the claim needs it.
    """
    if taking.hold is LockRequirement.UNCHANGED:
        return {
            "ConditionExpression": REVISION_IS_AS_READ,
            "ExpressionAttributeValues": _revision(taking.job),
        }
    waits = taking.job.waiting == taking.row.ref
    free = [LOCK_IS_FREE, LOCK_IS_MINE]
    values = {**_revision(taking.job), ":me": holder(taking.row.ref)}
    if taking.dead_ref is not None:
        free.append(LOCK_IS_THE_DEAD_ONES)
        values[":dead"] = holder(taking.dead_ref)
    waiting = I_WAIT if waits else f"({NO_RUN_WAITS} OR NOT {I_WAIT})"
    removes = {"waiting": waits, "unlocked_since": taking.unlocked is not None}
    return {
        "ConditionExpression": f"{REVISION_IS_AS_READ} AND ({' OR '.join(free)}) AND {waiting}",
        "UpdateExpression": _expression(["running = :me"], [name for name in removes if removes[name]]),
        "ExpressionAttributeValues": values,
    }


def wait(job: Job, waiting: ActionRef) -> Update:
    """Let an action wait if no action waits, or if the waiting one is as read.

    The lock must be as read, too: a late request must not let an action wait that has run meanwhile.
    """
    as_read = {
        WAITING_IS_AS_READ: {":former": holder(job.waiting)} if job.waiting else {},
        LOCK_IS_AS_READ: {":running": holder(job.running)} if job.running else {},
        SEARCH_IS_AS_READ: {":unlocked": at(job.unlocked_since)} if job.unlocked_since else {},
    }
    absent = {WAITING_IS_AS_READ: NO_RUN_WAITS, LOCK_IS_AS_READ: LOCK_IS_FREE}
    conditions = [name if values else absent.get(name) for name, values in as_read.items()]
    values = {name: value for some in as_read.values() for name, value in some.items()}
    return {
        "ConditionExpression": " AND ".join([JOB_IS_THERE, *filter(None, conditions)]),
        "UpdateExpression": "SET waiting = :me",
        "ExpressionAttributeValues": {":me": holder(waiting), **values},
    }


def stop_waiting(ref: ActionRef) -> Update:
    """End the waiting of an action."""
    return {
        "ConditionExpression": I_WAIT,
        "UpdateExpression": "REMOVE waiting",
        "ExpressionAttributeValues": {":me": holder(ref)},
    }


def unlock(ref: ActionRef, ended: EndedRun | None = None) -> Update:
    """Free the lock that this action holds, and count an ended run."""
    sets, removes, adds, values = _counted(ended) if ended else _NOTHING
    return {
        "ConditionExpression": LOCK_IS_MINE,
        "UpdateExpression": _expression(sets, ["running", *removes], adds),
        "ExpressionAttributeValues": {**values, ":me": holder(ref)},
    }


def count(ended: EndedRun) -> Update:
    """Count a run of an existing job."""
    sets, removes, adds, values = _counted(ended)
    return {
        "ConditionExpression": JOB_IS_THERE,
        "UpdateExpression": _expression(sets, removes, adds),
        "ExpressionAttributeValues": values,
    }


_Counted = tuple[Sequence[str], Sequence[str], Sequence[str], Item]
"""The clauses that set, remove and add attributes, and their values."""

_NOTHING: _Counted = ((), (), (), {})


def _counted(ended: EndedRun) -> _Counted:
    """Return the changes of the statistics for a run, as `EndedRun.counted` computes them."""
    sets = ["last_started_at = :started_at", "last_id = :id", "last_status = :ended"]
    removes, adds = [], []
    values = {
        ":started_at": at(ended.started_at),
        ":id": {"S": ended.id},
        ":ended": {"S": ended.status},
    }
    if ended.triggered_by is not None:
        sets.append("triggered_by = :triggered_by")
        values[":triggered_by"] = {"S": ended.triggered_by}
    if ended.status == Status.EXECUTED:
        adds.append("executed :one")
        removes.append("consecutive_failures")
        values[":one"] = _ONE
    elif ended.status == Status.FAILED:
        adds += ["failed :one", "consecutive_failures :one"]
        values[":one"] = _ONE
        if ended.error is None:
            removes.append("last_error")
        else:
            sets.append("last_error = :error")
            values[":error"] = {"S": ended.error}
    return sets, removes, adds, values


def _revision(job: Job) -> Item:
    return {":revision": {"N": str(job.revision)}}


def _expression(sets: Sequence[str], removes: Sequence[str] = (), adds: Sequence[str] = ()) -> str:
    clauses = {"SET": sets, "REMOVE": removes, "ADD": adds}
    return " ".join(f"{word} {', '.join(clause)}" for word, clause in clauses.items() if clause)
