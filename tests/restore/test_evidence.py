"""The verdict on a restored row, by each kind of evidence alone."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from duetime import ids
from duetime.ids import SYSTEM_TENANT, TenantId
from duetime.model.action import Action, Attempt, Status
from duetime.model.audit import AuditEntry, AuditKind, AuditTarget
from duetime.model.job import Definition, Job, JobRef, Origin
from duetime.model.row_parts import Act, Concurrency, RunPlan
from duetime.restore.evidence import Evidence, LoggedEvent, Verdict
from duetime.settings import Settings

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
ACME = TenantId("acme")


def one_shot(due_at, **changes):
    action_id = ids.new_action_id(NOON - 60 * MINUTE, bytes)
    return (
        Action(
            tenant_id=ACME,
            id=action_id,
            type="note",
            due_at=due_at,
            due_shard="0",
            created_by="ada",
            payload="{}",
        )
        if not changes
        else replace(one_shot(due_at), **changes)
    )


def run_of_job(nominal_at):
    name = ids.job_name("nightly-report")
    return Action(
        tenant_id=SYSTEM_TENANT,
        id=ids.occurrence_id(name, 1, nominal_at),
        type="nightly-report",
        due_at=nominal_at,
        due_shard="0",
        created_by="plan",
        payload=None,
        planned=RunPlan(NOON - 90 * MINUTE),
    )


def known(**facts):
    return Evidence(restored_to=NOON - 10 * MINUTE, now=NOON, settings=Settings(), **facts)


LATER = one_shot(NOON + 5 * MINUTE)
PASSED = one_shot(NOON - 5 * MINUTE)
FAR = one_shot(NOON + 30 * MINUTE)


def change_of(row, operation="reschedule"):
    target = AuditTarget(AuditKind.ACTION, row.id)
    return AuditEntry(
        id="e",
        tenant_id=row.tenant_id,
        target=target,
        operation=operation,
        by="ada",
        roles=(),
        address=None,
        requested_at=NOON - MINUTE,
        request_fields={},
        expires_at=NOON,
        status=200,
    )


def test_the_last_run_in_a_jobs_statistics_has_ended():
    run = run_of_job(NOON - 5 * MINUTE)
    job = Job(
        ref=JobRef(SYSTEM_TENANT, run.job),
        definition=Definition(name=run.job, type="nightly-report", cadences=("every 1h",)),
        origin=Origin.CODE,
        since=NOON - 60 * MINUTE,
        anchor=NOON - 60 * MINUTE,
        cursor=NOON,
        maintain_at=NOON,
    )
    job = replace(job, tally=replace(job.tally, last_id=run.id, last_status=Status.EXECUTED))
    assert known(jobs={job.ref: job}).judge(run) == (
        Verdict.ENDED,
        "executed, by the statistics of its job",
    )
    another = run_of_job(NOON - 6 * MINUTE)
    assert known(jobs={job.ref: job}).judge(another).verdict is Verdict.DUE


@pytest.mark.parametrize(
    ("word", "verdict"),
    [("executed", Verdict.ENDED), ("retried", Verdict.CHANGED), ("scheduled", Verdict.DUE)],
)
def test_a_log_line_shows_an_end_or_a_change(word, verdict):
    assert known(logged={PASSED.ref: LoggedEvent(word, NOON - MINUTE)}).judge(PASSED).verdict is verdict


def test_a_row_that_ran_at_the_restore_point_may_double():
    run = Attempt(queued_at=NOON - 11 * MINUTE, started_at=NOON - 11 * MINUTE, instance="w")
    row = replace(
        PASSED, status=Status.PROCESSING, fence=1, attempts=(run,), concurrency=Concurrency("till-4")
    )
    assert known().judge(row) == (
        Verdict.DUE,
        "it was running at the restore point since 2026-03-01T11:49:00Z",
    )


def test_with_the_wheel_no_missing_timer_is_evidence():
    wheel, timers = known(timers=None), known(timers=frozenset())
    assert wheel.judge(FAR).verdict is Verdict.UNCHANGED
    assert timers.judge(FAR).verdict is Verdict.CHANGED
    assert known(timers=timers.names_of([FAR])).judge(FAR).verdict is Verdict.UNCHANGED


def test_the_previous_table_decides_before_logs_and_audit():
    ended = replace(LATER, status=Status.CANCELLED, changed=Act(NOON - MINUTE, "ada"))
    facts = {"audited": {(LATER.tenant_id, LATER.id): change_of(LATER)}}
    found = known(previous={LATER.ref: ended}, previous_table="duetime-actions", **facts).judge(LATER)
    assert found == (Verdict.ENDED, "cancelled in duetime-actions, changed 2026-03-01T11:59:00Z")


def test_without_evidence_only_what_was_due_is_doubtful():
    assert known().judge(PASSED).verdict is Verdict.DUE
    assert known().judge(LATER).verdict is Verdict.UNCHANGED
