"""How far a job is planned, and how its runs ended: its cursor and its tally."""
# ruff: noqa: D102, S101 - a test's name is its sentence

from __future__ import annotations

from dataclasses import replace
from functools import partial

from duetime.model.action import Status
from duetime.model.job import WHOLE_JOB, JobRef
from duetime.model.run_stats import EndedRun, RunStats
from duetime.model.wake_state import WakeState
from duetime.ports.actions import ActionStore
from duetime.ports.jobs import JobStore
from duetime.testing.contract.job_specimens import (
    ADDED_AT,
    DAY,
    NIGHTLY,
    OPERATED,
    OUTAGE,
    PAUSE,
    added,
    ended,
    nightly,
    stored_job,
)
from duetime.testing.contract.races import CROWD, together
from duetime.testing.contract.specimens import ACME, HOUR, MINUTE, NOON, SECOND, claim, scheduled
from duetime.testing.contract.subject import JobsContract


class CursorContract(JobsContract):
    """`move_cursor`: how far a job is planned."""

    def test_a_plan_moves_the_cursor_and_nothing_else(self, jobs: JobStore) -> None:
        job = added(jobs, **OPERATED)
        assert jobs.move_cursor(job, NOON + DAY, NOON + 2 * DAY)
        assert jobs.get(job.ref) == replace(job, cursor=NOON + DAY, maintain_at=NOON + 2 * DAY)

    def test_a_plan_from_an_older_cursor_moves_nothing(self, jobs: JobStore) -> None:
        job = added(jobs)
        assert jobs.move_cursor(job, NOON, NOON + HOUR)
        before = jobs.get(job.ref)
        assert not jobs.move_cursor(job, NOON + MINUTE, NOON + DAY, missed=[OUTAGE])
        assert jobs.get(job.ref) == before
        assert [*jobs.spans(job.ref, ADDED_AT, NOON)] == []

    def test_a_plan_of_an_older_revision_moves_nothing(self, jobs: JobStore) -> None:
        job = added(jobs)
        jobs.change(job, replace(job, pauses={WHOLE_JOB: PAUSE}))
        before = jobs.get(job.ref)
        assert not jobs.move_cursor(job, NOON, NOON + DAY, missed=[OUTAGE])
        assert jobs.get(job.ref) == before
        assert [*jobs.spans(job.ref, ADDED_AT, NOON)] == []

    def test_what_was_missed_is_kept_with_the_cursor(self, jobs: JobStore) -> None:
        job = added(jobs)
        assert jobs.move_cursor(job, NOON, NOON + DAY, missed=[OUTAGE])
        assert [*jobs.spans(job.ref, ADDED_AT, NOON)] == [OUTAGE]

    def test_a_repeated_plan_tells_what_its_first_try_did(self, jobs: JobStore) -> None:
        job = added(jobs)
        for _ in range(2):
            assert jobs.move_cursor(job, NOON, NOON + DAY, missed=[OUTAGE])
        assert stored_job(jobs, job.ref).cursor == NOON
        assert [*jobs.spans(job.ref, ADDED_AT, NOON)] == [OUTAGE]

    def test_no_cursor_is_moved_where_there_is_no_job(self, jobs: JobStore) -> None:
        job = nightly()
        assert not jobs.move_cursor(job, NOON, NOON + DAY, missed=[OUTAGE])
        assert jobs.get(job.ref) is None
        assert [*jobs.spans(job.ref, ADDED_AT, NOON)] == []

    def test_of_many_plans_at_once_exactly_one_moves_the_cursor(self, jobs: JobStore) -> None:
        job = added(jobs)
        moves = [partial(jobs.move_cursor, job, NOON + place * SECOND, NOON + DAY) for place in range(CROWD)]
        answers = together(moves)
        assert answers.count(True) == 1
        assert stored_job(jobs, job.ref).cursor == NOON + answers.index(True) * SECOND


class CountContract(JobsContract):
    """`count`: the tally of a run that held no lock."""

    def test_each_end_is_counted_as_the_tally_says(self, store: ActionStore, jobs: JobStore) -> None:
        job = added(jobs)
        run = claim(store, scheduled(store).ref)
        tally = job.tally
        for number, status in enumerate(("failed", "executed", "failed", "failed", "cancelled", "skipped")):
            one = replace(
                ended(run, Status(status), f"problem {number}" if status == "failed" else None),
                id=f"run-{number}",
                started_at=NOON + number * MINUTE,
            )
            jobs.count(job.ref, one)
            tally = one.counted(tally)
            assert stored_job(jobs, job.ref).tally == tally
        assert (tally.executed, tally.failed, tally.consecutive_failures) == (1, 3, 2)

    def test_counting_changes_nothing_but_the_tally(self, jobs: JobStore) -> None:
        job = added(jobs, **OPERATED)
        jobs.count(job.ref, EndedRun(id="run-1", status="executed", started_at=NOON))
        assert replace(stored_job(jobs, job.ref), tally=RunStats()) == job
        assert jobs.change(job, replace(job, wakes=WakeState()))

    def test_counting_for_a_job_that_never_was_makes_none(self, jobs: JobStore) -> None:
        ref = JobRef(ACME, NIGHTLY)
        jobs.count(ref, EndedRun(id="run-1", status="executed", started_at=NOON))
        assert jobs.get(ref) is None
        assert jobs.add(nightly())

    def test_many_runs_counted_at_once_are_all_counted(self, jobs: JobStore) -> None:
        job = added(jobs)
        ends = [
            EndedRun(id=f"run-{number}", status="failed", started_at=NOON, error="x")
            for number in range(CROWD)
        ]
        together([partial(jobs.count, job.ref, end) for end in ends])
        tally = stored_job(jobs, job.ref).tally
        assert (tally.failed, tally.consecutive_failures) == (CROWD, CROWD)
