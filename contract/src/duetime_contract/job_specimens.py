"""Specimens of jobs: a nightly one and its runs, with the clock face of `specimens`."""
# ruff: noqa: S101 - what is not as it should be fails the test that asked

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from duetime.ids import ActionId, JobName, TenantId, due_shard_of, event_run_id, manual_run_id, occurrence_id
from duetime.model.action import Action, ActionRef, Ending, Status
from duetime.model.job import WHOLE_JOB, Definition, Job, JobRef, JobSpan, Origin, Pause, SpanKind
from duetime.model.lease import ClaimTerms
from duetime.model.row_parts import RunPlan
from duetime.model.run_stats import EndedRun, RunStats
from duetime.model.transition import started
from duetime.model.wake_state import WakeState
from duetime.ports.action_store import ActionStore
from duetime.ports.job_store import JobStore
from duetime.ports.jobs import JobRunClaim, LockRequirement
from duetime.retry import Tuning
from duetime_contract.specimens import (
    ACME,
    EXPIRY,
    HOUR,
    MINUTE,
    NOON,
    SECOND,
    TICK,
    put,
    stored_row,
    terms,
)

NIGHTLY, REINDEX = JobName("billing-nightly"), JobName("kb-reindex")
DAY = timedelta(days=1)
ADDED_AT = NOON - 30 * DAY
PLANNED_AT = NOON - 6 * HOUR
NEXT = NOON + DAY
"""When the occurrence after noon's is due."""
FINAL = [Status.EXECUTED, Status.FAILED, Status.CANCELLED]
"""How a run may end for good."""
PAUSE = Pause(since=NOON - HOUR, by="ops", reason="until the audit is over, März", until=NOON + DAY)
OUTAGE = JobSpan(kind=SpanKind.MISSED, start=NOON - 2 * DAY, end=NOON - DAY)
OPERATED: dict[str, Any] = {
    "ends": {1: NOON - 9 * DAY, 2: NOON - DAY + TICK},
    "pauses": {WHOLE_JOB: PAUSE, "daily_12:00": Pause(since=NOON, by="ops").beside(PAUSE)},
    "removed_at": NOON + TICK,
    "tuning": {
        WHOLE_JOB: Tuning(attempts=5),
        "daily_12:00": Tuning(backoff=(0.5, 60.0, 3_600.0), jitter=0.25),
    },
    "wakes": WakeState(2, 1, "83591e"),
    "registered_by": "billing-service",
    "registered_at": NOON - 3 * DAY,
    "idempotency_key": "registration-1",
    "idempotency_until": NOON - 2 * DAY + TICK,
    "unlocked_since": NOON - TICK,
}
"""Every field that operators and reconcile set, with more than its default."""


def nightly(name: JobName = NIGHTLY, tenant_id: TenantId = ACME, **fields: Any) -> Job:
    """Return an unadded job, with `fields` instead of the usual ones."""
    usual: dict[str, Any] = {
        "definition": Definition(
            name=name,
            type="close-books",
            cadences=("daily 12:00 tz=UTC", "manual"),
            payload='{"ledger":"main"}',
        ),
        "origin": Origin.CODE,
        "since": ADDED_AT,
        "anchor": ADDED_AT,
        "cursor": NOON - DAY,
        "maintain_at": NOON + HOUR,
    }
    return Job(ref=JobRef(tenant_id, name), **usual | fields)


def added(jobs: JobStore, name: JobName = NIGHTLY, tenant_id: TenantId = ACME, **fields: Any) -> Job:
    """A job as it stands after it was added."""
    job = nightly(name, tenant_id, **fields)
    assert jobs.add(job)
    return stored_job(jobs, job.ref)


def stored_job(jobs: JobStore, ref: JobRef) -> Job:
    """Return the stored job, which must exist."""
    job = jobs.get(ref)
    assert job is not None, f"there is no job {ref}"
    return job


def occurrence(
    store: ActionStore,
    nominal_at: datetime = NOON,
    *,
    job: JobName = NIGHTLY,
    version: int = 1,
    tenant_id: TenantId = ACME,
    **fields: Any,
) -> Action:
    """Return an unwritten occurrence."""
    return _run(
        store,
        occurrence_id(job, version, nominal_at),
        nominal_at,
        tenant_id,
        ({"cadence": "daily_12:00"} | fields),
    )


def manual_run(
    store: ActionStore,
    at: datetime = NOON,
    *,
    job: JobName = NIGHTLY,
    version: int = 1,
    tenant_id: TenantId = ACME,
) -> Action:
    """Return an unwritten, manually triggered run."""
    return _run(store, manual_run_id(job, version, at), at, tenant_id, {})


def event_run(
    store: ActionStore,
    event_id: str,
    at: datetime = NOON,
    *,
    job: JobName = NIGHTLY,
    tenant_id: TenantId = ACME,
    **fields: Any,
) -> Action:
    """Return an unwritten run that an event starts."""
    return _run(
        store,
        event_run_id(job, at, event_id),
        at,
        tenant_id,
        ({"cadence": "OnEvent_orders_OrderPlaced"} | fields),
    )


def _run(
    store: ActionStore, run_id: ActionId, due_at: datetime, tenant_id: TenantId, given: dict[str, Any]
) -> Action:
    usual: dict[str, Any] = {
        "type": "close-books",
        "due_at": due_at,
        "due_shard": due_shard_of(run_id, len(store.due_shards)),
        "created_by": "planner",
        "payload": '{"ledger":"main"}',
    }
    of_plan = {name: given.pop(name) for name in ("cadence", "catches_up", "job_tenant") if name in given}
    return Action(tenant_id=tenant_id, id=run_id, planned=RunPlan(PLANNED_AT, **of_plan), **usual | given)


def planned(store: ActionStore, nominal_at: datetime = NOON, **fields: Any) -> Action:
    """A pending occurrence."""
    return put(store, occurrence(store, nominal_at, **fields))


def taking(
    row: Action,
    job: Job,
    hold: LockRequirement = LockRequirement.LOCK,
    *,
    dead: Action | None = None,
    dead_ref: ActionRef | None = None,
    unlocked: tuple[Action, ...] | None = None,
    claim_terms: ClaimTerms | None = None,
) -> JobRunClaim:
    """The claim of a row as it was read."""
    claimed = started(row, claim_terms or terms(row.due_at))
    ref = dead_ref or (dead.ref if dead else None)
    return JobRunClaim(
        row=row, claimed=claimed, job=job, hold=hold, dead=dead, dead_ref=ref, unlocked=unlocked
    )


def taken(
    store: ActionStore,
    jobs: JobStore,
    job: Job,
    nominal_at: datetime = NOON,
    hold: LockRequirement = LockRequirement.LOCK,
) -> Action:
    """An occurrence of the job that was planned and claimed, as its run holds it."""
    claim = taking(planned(store, nominal_at, job=job.name, tenant_id=job.ref.tenant_id), job, hold)
    assert jobs.claim(claim)
    return stored_row(store, claim.row.ref)


def ended(run: Action, status: Status = Status.EXECUTED, error: str | None = None) -> EndedRun:
    """Return the facts of an ended run for the statistics."""
    return EndedRun(id=run.id, status=status.value, started_at=run.attempts[-1].started_at, error=error)


def counted(run: EndedRun, tally: RunStats) -> RunStats:
    """Return the statistics with a run included."""
    failed, executed = run.status == "failed", run.status == "executed"
    return replace(
        tally,
        executed=tally.executed + executed,
        failed=tally.failed + failed,
        consecutive_failures=0 if executed else tally.consecutive_failures + failed,
        last_started_at=run.started_at,
        last_id=run.id,
        last_status=run.status,
        last_error=run.error if failed else tally.last_error,
        triggered_by=run.triggered_by or tally.triggered_by,
    )


def recorded(store: ActionStore, at: datetime = NOON, status: Status = Status.EXECUTED) -> Action:
    """Return an unwritten row that is settled already."""
    run = started(occurrence(store, at, due_shard=""), terms(at))
    finished = replace(
        run.attempts[0], finished_at=at + SECOND, ending=Ending(status.value), message="as it went"
    )
    return replace(
        run,
        status=status,
        attempts=(finished,),
        lease_until=None,
        nonce=None,
        retry=None,
        planned=RunPlan(at + MINUTE),
        kept_until=EXPIRY,
    )


def refused(store: ActionStore, jobs: JobStore, claim: JobRunClaim) -> bool:
    """Whether the claim is lost, and neither the action's row nor its job's has changed."""
    before = store.get(claim.row.ref), jobs.get(claim.job.ref)
    lost = not jobs.claim(claim)
    return lost and (store.get(claim.row.ref), jobs.get(claim.job.ref)) == before


def changed(jobs: JobStore, job: Job) -> Job:
    """The job after an operator has changed it."""
    assert jobs.change(job, replace(job, pauses={WHOLE_JOB: Pause(since=NOON, by="ops")}))
    return stored_job(jobs, job.ref)
