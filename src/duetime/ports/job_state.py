"""The state of a job: one item, and each change of it with its guard, for all back ends.

::

    change       revision as read              -> next revision
    move cursor  revision and cursor as read   -> cursor
    claim        row as read, revision as read,
                 lock free, held by this action or by a dead run -> processing, lock mine
    settle       row under my fence, lock mine -> final, lock free, tally
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import datetime
from operator import attrgetter
from typing import Any

from duetime import instant
from duetime.ids import SEPARATOR, ActionId, JobName, TenantId
from duetime.model.action import ActionRef, Status
from duetime.model.job import Definition, Job, JobRef, Origin, Pause, maintenance_shard_of
from duetime.model.run_stats import EndedRun, RunStats
from duetime.model.wake_state import WakeState
from duetime.ports.jobs import JobRunClaim, LockRequirement
from duetime.ports.keyed_items import (
    EXISTS,
    INSTANT,
    NUMBER,
    TEXT,
    AnyOf,
    Fields,
    Form,
    Key,
    Kind,
    Not,
    Presence,
    Write,
)
from duetime.retry import Tuning

CURRENT = "current#"
STATE, DEFINITION = CURRENT + "state", CURRENT + "definition"
DEFINED = Form("S", lambda definition: definition.to_json(), Definition.from_json)
CHANGED = (
    *("version", "since", "cursor", "maintain_at", "ends", "pauses", "removed_at", "tuning", "wakes"),
    *("registered_by", "registered_at", "idempotency_key", "idempotency_until", "maintain_failures"),
    "unlocked_since",
)
"""The fields that `change` writes, besides the revisions."""

_MOVED = ("cursor", "maintain_at", "maintain_failures", "unlocked_since")
"""Those of them that planners and claims write too."""


def _packed(store: Callable[[Any], Any], load: Callable[[Any], Any]) -> Form:
    """Return the form of a mapping that is stored as one JSON text."""
    return Form(
        "S",
        lambda values: json.dumps(
            {str(name): store(value) for name, value in values.items()},
            sort_keys=True,
            separators=(",", ":"),
            ensure_ascii=False,
        ),
        lambda text: {name: load(value) for name, value in json.loads(text or "{}").items()},
    )


def _pause(pause: Pause) -> Mapping[str, Any]:
    return {
        "since": instant.text(pause.since),
        "by": pause.by,
        "reason": pause.reason,
        **({} if pause.until is None else {"until": instant.text(pause.until)}),
        **({"parts": [_pause(part) for part in pause.parts]} if pause.parts else {}),
    }


def _to_pause(fields: Mapping[str, Any]) -> Pause:
    until = fields.get("until")
    return Pause(
        since=instant.parse(fields["since"]),
        by=fields["by"],
        reason=fields["reason"],
        until=None if until is None else instant.parse(until),
        parts=tuple(map(_to_pause, fields.get("parts", ()))),
    )


def _to_tuning(fields: Mapping[str, Any]) -> Tuning:
    backoff = fields["backoff"]
    return Tuning(**{**fields, "backoff": None if backoff is None else tuple(backoff)})


def _to_holder(text: str) -> ActionRef:
    tenant_id, _, action_id = text.partition(SEPARATOR)
    return ActionRef(TenantId(tenant_id), ActionId(action_id))


_ENDS = _packed(instant.text, instant.parse)
HOLDER = Form("S", lambda ref: f"{ref.tenant_id}{SEPARATOR}{ref.id}", _to_holder)
"""An action's reference as one text: ``acme#billing-nightly.000003.20260601T011500Z``."""

JOB = Kind(
    name="job",
    partition="{tenant}#{job}",
    sort=STATE,
    fields={
        "origin": Form("S", str, Origin),
        **dict.fromkeys(("version", "revision", "defined_in"), NUMBER),
        **dict.fromkeys(("anchor", "since", "cursor", "maintain_at"), INSTANT),
    },
    optional={
        "ends": _ENDS._replace(
            load=lambda text: {int(number): end for number, end in _ENDS.load(text).items()}
        ),
        "pauses": _packed(_pause, _to_pause),
        "tuning": _packed(asdict, _to_tuning),
        "wakes": Form("S", attrgetter("text"), WakeState.parse),
        **dict.fromkeys(("registered_by", "idempotency_key"), TEXT),
        **dict.fromkeys(("registered_at", "removed_at", "idempotency_until", "unlocked_since"), INSTANT),
        **dict.fromkeys(("running", "waiting"), HOLDER),
        **dict.fromkeys(("maintain_failures", "executed", "failed", "consecutive_failures"), NUMBER),
        **dict.fromkeys(("last_id", "last_status", "last_error", "triggered_by"), TEXT),
        "last_started_at": INSTANT,
    },
    guard=("revision",),
    index={**dict.fromkeys(("tenant", "name", "maintenance_shard"), TEXT), "definition": DEFINED},
    writers="`plan`, callers, workers",
)
_OWN = [name for name in JOB.names if name in Job.__slots__]
_COUNTED = RunStats.__slots__


def key_of(ref: JobRef) -> Key:
    """Return the key of a job's state."""
    return JOB.key(STATE, tenant=ref.tenant_id, job=ref.name)


def job_ref(partition: str) -> JobRef:
    """Return the job of a partition."""
    tenant_id, _, name = partition.partition(SEPARATOR)
    return JobRef(TenantId(tenant_id), JobName(name))


def fields_of(job: Job) -> Fields:
    """Return the fields of a job's state, without defaults."""
    values = {name: getattr(job, name) for name in _OWN} | {
        name: getattr(job.tally, name) for name in _COUNTED
    }
    place, sort = key_of(job.ref)
    return {
        "pk": place,
        "sk": sort,
        "tenant": job.ref.tenant_id,
        "name": job.ref.name,
        "maintenance_shard": maintenance_shard_of(job.ref),
        "defined_in": job.revision,
        **{name: value for name, value in values.items() if name in JOB.fields or value},
    }


def to_job(state: Fields, definition: Definition) -> Job:
    """Return the job of a state.

    Raises:
        ValueError: a field has a value that duetime does not write.
        TypeError: a field is missing.
    """
    return Job(
        ref=job_ref(state["pk"]),
        definition=definition,
        tally=RunStats(**{name: state[name] for name in _COUNTED if name in state}),
        **{name: state[name] for name in _OWN if name in state},
    )


def define(job: Job) -> Write:
    """Return the write of the item of the current definition."""
    key = JOB.key(DEFINITION, tenant=job.ref.tenant_id, job=job.name)
    return Write(kind=JOB, key=key, put={"definition": job.definition, "defined_in": job.revision})


def change(old: Job, new: Job) -> Write:
    """Write the fields of reconcile and operators, if the revision is as read."""
    fields, following = fields_of(new), old.revision + 1
    sets = {"revision": following, **{name: fields.get(name) for name in CHANGED}}
    if (new.definition, new.version) != (old.definition, old.version):
        sets["defined_in"] = following
    return _write(old.ref, JOB.as_read(old)[0], sets)


def is_changed(job: Job, new: Job, write: Write) -> bool:
    """Return whether a job is as a change leaves it; a planner may have moved its cursor since."""
    fields = fields_of(job)
    left = {name: value for name, value in write.sets.items() if name not in _MOVED}
    return job.definition == new.definition and left == {name: fields.get(name) for name in left}


def next_revision(job: Job) -> Write:
    """Count a change beside the job's own items, if the revision is as read."""
    return _write(job.ref, JOB.as_read(job)[0], {"revision": job.revision + 1})


def move_cursor(job: Job, cursor: datetime, maintain_at: datetime) -> Write:
    """Move the cursor if revision and cursor are as read."""
    guard = {**JOB.as_read(job)[0], "cursor": job.cursor}
    return _write(job.ref, guard, {"cursor": cursor, "maintain_at": maintain_at})


def moved(job: Job, write: Write) -> Fields:
    """Return the fields by which a repeated move of the cursor recognises the first one."""
    return {**JOB.as_read(job)[0], **write.sets}


def postpone(job: Job, maintain_at: datetime, failures: int) -> Write:
    """Set the time of the next maintenance if that and the revision are as read."""
    guard = {**JOB.as_read(job)[0], "maintain_at": job.maintain_at}
    return _write(job.ref, guard, {"maintain_at": maintain_at, "maintain_failures": failures})


def claim(taking: JobRunClaim) -> Write:
    """Check that the revision is unchanged, and take the lock if the claim needs it."""
    as_read, me = JOB.as_read(taking.job)[0], taking.row.ref
    if taking.hold is LockRequirement.UNCHANGED:
        return _write(taking.job.ref, as_read, {})
    waits = taking.job.waiting == me
    free = (Presence.UNSET, me, *(() if taking.dead_ref is None else (taking.dead_ref,)))
    ends = {"waiting": waits, "unlocked_since": taking.unlocked is not None}
    return _write(
        taking.job.ref,
        {**as_read, "running": AnyOf(free), "waiting": me if waits else Not(me)},
        {"running": me, **{name: None for name, is_ended in ends.items() if is_ended}},
    )


def wait(job: Job, waiting: ActionRef) -> Write:
    """Let an action wait if no action waits, or if the waiting one is as read.

    The lock must be as read, too: a late request must not let an action wait that has run meanwhile.
    """
    guard = {**EXISTS[0], "waiting": job.waiting or Presence.UNSET, "running": job.running or Presence.UNSET}
    if job.unlocked_since is not None:
        guard["unlocked_since"] = job.unlocked_since
    return _write(job.ref, guard, {"waiting": waiting})


def stop_waiting(ref: JobRef, waiting: ActionRef) -> Write:
    """End the waiting of an action."""
    return _write(ref, {"waiting": waiting}, {"waiting": None})


def unlock(ref: JobRef, holder: ActionRef) -> Write:
    """Free the lock that an action holds."""
    return _write(ref, {"running": holder}, {"running": None})


def count(ref: JobRef, ended: EndedRun, holder: ActionRef | None = None) -> Write:
    """Count a run of an existing job, and free the lock that it holds."""
    adds, sets = dict[str, int](), dict[str, Any]({} if holder is None else {"running": None})
    sets |= {"last_started_at": ended.started_at, "last_id": ended.id, "last_status": ended.status}
    if ended.triggered_by is not None:
        sets["triggered_by"] = ended.triggered_by
    if ended.status == Status.EXECUTED:
        adds["executed"], sets["consecutive_failures"] = 1, None
    elif ended.status == Status.FAILED:
        adds, sets["last_error"] = {"failed": 1, "consecutive_failures": 1}, ended.error
    return _write(ref, EXISTS[0] if holder is None else {"running": holder}, sets, adds)


def _write(ref: JobRef, guard: Fields, sets: Fields, adds: Mapping[str, int] | None = None) -> Write:
    return Write(kind=JOB, key=key_of(ref), guard=(guard,), sets=sets, adds=adds or {})
