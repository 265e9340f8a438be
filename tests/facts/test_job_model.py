"""The model of jobs: definitions, pauses, retry policies and statistics."""

import json
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta

import pytest

from duetime import RetryPolicy, ids
from duetime.errors import DeclarationError
from duetime.model.job import (
    MAINTENANCE_SHARDS,
    WHOLE_JOB,
    Definition,
    Job,
    JobRef,
    Origin,
    Overlap,
    Pause,
    maintenance_shard_of,
)
from duetime.model.run_stats import EndedRun
from duetime.ports.job_state import count, fields_of, to_job
from duetime.retry import Tuning

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)

NIGHTLY = Definition(name="billing-nightly", type="billing-nightly", cadences=("daily 03:15", "manual"))
FULL = Definition(
    name="billing-nightly",
    type="clean-up",
    cadences=("daily 03:15 tz=Europe/Paris",),
    payload='{"days":7}',
    payload_version=3,
    retry=RetryPolicy(attempts=1).text(),
    overlap=Overlap.CANCEL_RUNNING,
    catch_up=5,
    precision="minute",
    failure_threshold=1,
    title="Nächtlich",
    category="Billing",
    description="…",
    worker="reports",
    self_scheduled=True,
    deadline="06:00",
    within=7_200,
    every_success_within=93_600,
    after="books-import",
    after_timeout=3_600,
    counted="2@2026-03-03T09:30:00Z",
)


def job(**given):
    ref = JobRef(ids.SYSTEM_TENANT, NIGHTLY.name)
    usual = {
        "definition": NIGHTLY,
        "origin": Origin.CODE,
        "since": NOON,
        "anchor": NOON,
        "cursor": NOON,
        "maintain_at": NOON,
    }
    return Job(ref=ref, **usual | given)


class TestDefinition:
    @pytest.mark.parametrize("definition", [NIGHTLY, FULL], ids=["plain", "full"])
    def test_definition_round_trips_through_json(self, definition):
        read = Definition.from_json(definition.to_json())
        assert read == definition
        assert type(read.overlap) is Overlap

    def test_json_omits_default_values(self):
        assert json.loads(NIGHTLY.to_json()).keys() == {"name", "type", "cadences"}
        assert json.loads(FULL.to_json()).keys() == {field.name for field in fields(Definition)}

    def test_json_ignores_unknown_fields(self):
        later = json.dumps(json.loads(NIGHTLY.to_json()) | {"colour": "red"})
        assert Definition.from_json(later) == NIGHTLY

    @pytest.mark.parametrize(
        "change",
        [
            {"type": "other-one"},
            {"cadences": ("daily 03:16",)},
            {"payload": "{}"},
            {"payload_version": 2},
            {"self_scheduled": True},
        ],
        ids=str,
    )
    def test_change_of_row_fields_changes_plan(self, change):
        assert not NIGHTLY.plans_like(replace(NIGHTLY, **change))

    @pytest.mark.parametrize(
        "change",
        [{"title": "x"}, {"overlap": Overlap.ALLOW}, {"catch_up": 1}, {"retry": None}, {"worker": "reports"}],
        ids=str,
    )
    def test_change_of_other_fields_keeps_plan(self, change):
        assert NIGHTLY.plans_like(replace(NIGHTLY, **change))


class TestPause:
    def test_job_pause_makes_job_paused(self):
        paused = job(pauses={WHOLE_JOB: Pause(since=NOON, by="ann")})
        assert (paused.is_paused, paused.is_live) == (True, False)

    def test_cadence_pause_leaves_job_live(self):
        paused = job(pauses={"Daily_03_15": Pause(since=NOON, by="ann")})
        assert (paused.is_paused, paused.is_live) == (False, True)

    def test_removed_job_is_not_live(self):
        assert job().is_live
        assert not job(removed_at=NOON).is_live


class TestRetryPolicy:
    HANDLERS = RetryPolicy(attempts=7, backoff=[60], jitter=0)

    def test_policy_of_definition_precedes_policy_of_handler(self):
        own = replace(NIGHTLY, retry=RetryPolicy(attempts=2).text())
        assert job().policy_for(None, self.HANDLERS) == self.HANDLERS
        assert job(definition=own).policy_for("Daily_03_15", self.HANDLERS) == RetryPolicy(attempts=2)

    def test_tuning_of_cadence_follows_tuning_of_job(self):
        tuned = job(
            tuning={
                WHOLE_JOB: Tuning(attempts=3, backoff=(5.0,)),
                "Daily_03_15": Tuning(attempts=1, jitter=0.5),
            }
        )
        assert tuned.policy_for("Daily_03_15", self.HANDLERS) == RetryPolicy(1, [5], 0.5)
        assert tuned.policy_for("Manual", self.HANDLERS) == RetryPolicy(3, [5], 0)
        assert tuned.policy_for(None, self.HANDLERS) == RetryPolicy(3, [5], 0)

    def test_tuning_keeps_other_options(self):
        policy = RetryPolicy(4, [1, 2], 0.3, give_up_after=60)
        assert Tuning().applied(policy) == policy
        assert Tuning(attempts=9).applied(policy) == RetryPolicy(9, [1, 2], 0.3, give_up_after=60)

    @pytest.mark.parametrize("tuning", [Tuning(attempts=0), Tuning(backoff=()), Tuning(jitter=2)], ids=str)
    def test_tuning_out_of_range_is_rejected(self, tuning):
        with pytest.raises(DeclarationError):
            tuning.applied(RetryPolicy())


class TestRunStats:
    def counted(self, *statuses):
        counting = job()
        for number, status in enumerate(statuses):
            ended = EndedRun(
                id=f"run-{number}",
                status=status,
                started_at=NOON + number * DAY,
                error=f"error {number}" if status == "failed" else None,
            )
            state = count(counting.ref, ended).after(fields_of(counting))
            counting = to_job(state, counting.definition)
        return counting.tally

    def test_stats_count_consecutive_failures(self):
        assert self.counted("failed", "failed").consecutive_failures == 2
        assert self.counted("failed", "executed").consecutive_failures == 0
        assert self.counted("failed", "cancelled").consecutive_failures == 1
        assert self.counted("failed", "executed", "failed").consecutive_failures == 1

    def test_stats_count_executed_and_failed_runs(self):
        tally = self.counted("executed", "failed", "cancelled", "executed")
        assert (tally.executed, tally.failed) == (2, 1)

    def test_stats_have_last_run_and_last_error(self):
        tally = self.counted("failed", "executed")
        assert (tally.last_id, tally.last_status, tally.last_started_at) == ("run-1", "executed", NOON + DAY)
        assert tally.last_error == "error 0"


def test_version_without_stored_end_ended_before_current_one():
    third = job(version=3, since=NOON, ends={2: NOON - DAY})
    assert third.end_of(3) is None
    assert third.end_of(2) == NOON - DAY
    assert third.end_of(1) == NOON


def test_jobs_are_spread_over_shards_of_maintenance_index():
    shards = {maintenance_shard_of(JobRef(ids.SYSTEM_TENANT, f"billing-job-{index}")) for index in range(50)}
    assert shards == set(ids.SHARDS[:MAINTENANCE_SHARDS])


def test_cadence_set_starts_at_anchor():
    definition = replace(NIGHTLY, cadences=("interval 5h",))
    assert job(definition=definition).cadence_set.next_after(NOON) == NOON + timedelta(hours=5)
