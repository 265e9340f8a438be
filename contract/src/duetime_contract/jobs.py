"""The job's row: it is added, read, listed and maintained; its cursor moves and its runs are counted."""
# ruff: noqa: D102, S101 - a test's name is its sentence

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

import pytest

from duetime import instant
from duetime.ids import JobName, TenantId
from duetime.model.action import Status
from duetime.model.job import WHOLE_JOB, Job, JobRef, Origin, Overlap, Version
from duetime.model.run_stats import EndedRun, RunStats
from duetime.model.wake_state import WakeState
from duetime.ports.action_store import ActionStore
from duetime.ports.job_store import JobStore
from duetime_contract.job_specimens import (
    ADDED_AT,
    DAY,
    NIGHTLY,
    OPERATED,
    OUTAGE,
    PAUSE,
    REINDEX,
    added,
    counted,
    ended,
    nightly,
    stored_job,
    taken,
)
from duetime_contract.races import CROWD, together
from duetime_contract.specimens import (
    ACME,
    GLOBEX,
    HOUR,
    MINUTE,
    NOON,
    SECOND,
    TICK,
    claim,
    pages,
    read_all,
    scheduled,
    unchanged,
)
from duetime_contract.subject import JobsContract


class JobRowContract(JobsContract):
    """`get`, `add`, and the lists."""

    def test_a_job_that_never_was_is_not_found(self, jobs: JobStore) -> None:
        added(jobs)
        assert jobs.get(JobRef(ACME, REINDEX)) is None
        assert jobs.get(JobRef(GLOBEX, NIGHTLY)) is None

    def test_an_added_job_is_read_back(self, jobs: JobStore) -> None:
        job = nightly()
        assert jobs.add(job)
        assert jobs.get(job.ref) == job

    def test_an_added_job_has_every_field(self, jobs: JobStore) -> None:
        definition = replace(
            nightly().definition,
            retry="[3,[60],0.1,null]",
            overlap=Overlap.CANCEL_RUNNING,
            catch_up=3,
            precision="minute",
            failure_threshold=7,
            title="Bücher schließen 🚀",
            category="billing",
            description="Closes the books.",
            worker="reports",
            payload_version=2,
        )
        job = nightly(definition=definition, origin=Origin.RUNTIME, version=3, **OPERATED)
        assert jobs.add(job)
        assert jobs.get(job.ref) == job

    def test_an_added_job_has_its_first_version(self, jobs: JobStore, job: Job) -> None:
        assert [*jobs.versions(job.ref)] == [Version(number=1, definition=job.definition, since=ADDED_AT)]

    def test_another_job_of_that_name_is_not_added(self, jobs: JobStore, job: Job) -> None:
        assert not jobs.add(nightly(definition=replace(job.definition, type="open-books"), cursor=NOON))
        assert jobs.get(job.ref) == job
        assert [version.definition for version in jobs.versions(job.ref)] == [job.definition]

    def test_a_job_that_was_changed_since_it_was_added_is_left_alone(self, jobs: JobStore, job: Job) -> None:
        jobs.change(job, replace(job, pauses={WHOLE_JOB: PAUSE}))
        with unchanged(jobs.get, job.ref):
            jobs.add(job)

    def test_a_job_that_was_dropped_is_still_there(self, jobs: JobStore) -> None:
        job = added(jobs, removed_at=NOON)
        assert not jobs.add(nightly())
        assert jobs.get(job.ref) == job

    def test_of_many_jobs_of_one_name_added_at_once_exactly_one_is(self, jobs: JobStore) -> None:
        rivals = [nightly(registered_by=f"caller-{number}") for number in range(CROWD)]
        answers = together([partial(jobs.add, rival) for rival in rivals])
        assert answers.count(True) == 1
        assert jobs.get(rivals[0].ref) == rivals[answers.index(True)]

    def test_a_job_is_no_action_of_its_tenant(self, store: ActionStore, job: Job) -> None:
        assert len(store.of_tenant(ACME, limit=5, cursor=None)) == 0
        assert len(store.of_job(ACME, job.name, limit=5, cursor=None, has_events=True)) == 0

    def test_a_tenants_jobs_come_by_name_dropped_ones_included(self, jobs: JobStore) -> None:
        for name in ("kb-reindex", "billing-nightly", "mail-digest"):
            added(jobs, JobName(name), removed_at=NOON if name == "kb-reindex" else None)
        self.let_indexes_follow()
        listed = jobs.list(ACME, limit=10, cursor=None)
        assert [job.name for job in listed] == ["billing-nightly", "kb-reindex", "mail-digest"]
        assert listed.cursor is None

    @pytest.mark.parametrize("limit", [1, 4, 9])
    def test_pages_of_a_tenants_jobs_lose_and_double_none(self, jobs: JobStore, limit: int) -> None:
        names = [added(jobs, JobName(f"report-{letter}")).name for letter in "gbaihdfec"]
        self.let_indexes_follow()
        assert [
            job.name for job in pages(lambda cursor: jobs.list(ACME, limit=limit, cursor=cursor), limit)
        ] == sorted(names)

    def test_a_tenants_list_has_its_own_jobs_only(self, jobs: JobStore) -> None:
        mine = added(jobs)
        added(jobs, tenant_id=GLOBEX)
        added(jobs, tenant_id=TenantId("acme-west"))
        self.let_indexes_follow()
        assert [job.ref for job in jobs.list(ACME, limit=5, cursor=None)] == [mine.ref]
        assert len(jobs.list(TenantId("no-one"), limit=5, cursor=None)) == 0

    def test_a_listed_job_is_read_as_of_now(self, store: ActionStore, jobs: JobStore, job: Job) -> None:
        jobs.change(job, replace(job, pauses={WHOLE_JOB: PAUSE}))
        taken(store, jobs, stored_job(jobs, job.ref))
        self.let_indexes_follow()
        assert [*jobs.list(ACME, limit=5, cursor=None)] == [stored_job(jobs, job.ref)]


class AttendContract(JobsContract):
    """`due_for_maintenance`."""

    def test_jobs_of_all_tenants_are_to_be_maintained_when_their_time_has_come(self, jobs: JobStore) -> None:
        early = added(jobs, maintain_at=NOON - TICK)
        on_time = added(jobs, REINDEX, maintain_at=NOON)
        theirs = added(jobs, tenant_id=GLOBEX, maintain_at=NOON - DAY)
        added(jobs, JobName("mail-digest"), maintain_at=NOON + TICK)
        assert self._to_attend(jobs, NOON) == sorted([early.ref, on_time.ref, theirs.ref], key=str)

    @pytest.mark.parametrize("limit", [1, 3, 50])
    def test_pages_of_jobs_to_attend_lose_and_double_none(self, jobs: JobStore, limit: int) -> None:
        refs = [
            added(jobs, JobName(f"report-{number}"), tenant, maintain_at=NOON - number * MINUTE).ref
            for number in range(7)
            for tenant in (ACME, GLOBEX)
        ]
        assert self._to_attend(jobs, NOON, limit) == sorted(refs, key=str)

    def test_jobs_with_one_time_are_all_found_page_by_page(self, jobs: JobStore) -> None:
        refs = [added(jobs, JobName(f"report-{number}")).ref for number in range(9)]
        assert self._to_attend(jobs, NOON + HOUR, 2) == sorted(refs, key=str)

    def test_the_latest_instant_finds_every_job_dropped_ones_too(self, jobs: JobStore) -> None:
        refs = [
            added(jobs, maintain_at=instant.LATEST).ref,
            added(jobs, REINDEX, removed_at=NOON, maintain_at=instant.LATEST).ref,
            added(jobs, JobName("mail-digest")).ref,
        ]
        assert self._to_attend(jobs, instant.LATEST) == sorted(refs, key=str)

    def test_a_job_moves_in_that_index_with_each_change_and_each_plan(self, jobs: JobStore) -> None:
        changed, planned = added(jobs), added(jobs, REINDEX)
        assert jobs.change(changed, replace(changed, maintain_at=NOON + 3 * HOUR))
        assert jobs.move_cursor(planned, NOON, NOON + 2 * HOUR)
        assert self._to_attend(jobs, NOON + HOUR) == []
        assert self._to_attend(jobs, NOON + 2 * HOUR) == [planned.ref]
        assert self._to_attend(jobs, NOON + 3 * HOUR) == sorted([changed.ref, planned.ref], key=str)

    def test_a_postponed_job_moves_in_that_index_and_a_change_forgets_its_failures(
        self, jobs: JobStore
    ) -> None:
        job = added(jobs)
        assert jobs.postpone(job, NOON + HOUR, failures=2)
        postponed = jobs.get(job.ref)
        assert postponed == replace(job, maintain_at=NOON + HOUR, maintain_failures=2)
        assert self._to_attend(jobs, NOON + MINUTE) == []
        assert jobs.change(job, replace(job, maintain_at=NOON))
        assert not jobs.postpone(job, NOON + HOUR, failures=3)
        changed = jobs.get(job.ref)
        assert changed is not None
        assert (changed.maintain_at, changed.maintain_failures) == (NOON, 0)

    def test_without_jobs_none_need_maintenance(self, jobs: JobStore) -> None:
        assert self._to_attend(jobs, instant.LATEST) == []

    def _to_attend(self, jobs: JobStore, until: datetime, limit: int = 50) -> Sequence[JobRef]:
        self.let_indexes_follow()

        def read(cursor: str | None) -> tuple[Sequence[JobRef], str | None]:
            refs, following = jobs.due_for_maintenance(until, limit=limit, cursor=cursor)
            assert len(refs) <= limit
            return [ref for ref in refs if isinstance(ref, JobRef)], following

        return sorted(read_all(read), key=str)


class CursorContract(JobsContract):
    """`move_cursor`: how far a job is planned."""

    def test_a_plan_moves_the_cursor_and_nothing_else(self, jobs: JobStore) -> None:
        job = added(jobs, **OPERATED)
        assert jobs.move_cursor(job, NOON + DAY, NOON + 2 * DAY)
        assert jobs.get(job.ref) == replace(job, cursor=NOON + DAY, maintain_at=NOON + 2 * DAY)

    def test_a_plan_from_an_older_cursor_moves_nothing(self, jobs: JobStore, job: Job) -> None:
        assert jobs.move_cursor(job, NOON, NOON + HOUR)
        with unchanged(jobs.get, job.ref):
            assert not jobs.move_cursor(job, NOON + MINUTE, NOON + DAY, missed=[OUTAGE])
        assert [*jobs.spans(job.ref, ADDED_AT, NOON)] == []

    def test_a_plan_of_an_older_revision_moves_nothing(self, jobs: JobStore, job: Job) -> None:
        jobs.change(job, replace(job, pauses={WHOLE_JOB: PAUSE}))
        with unchanged(jobs.get, job.ref):
            assert not jobs.move_cursor(job, NOON, NOON + DAY, missed=[OUTAGE])
        assert [*jobs.spans(job.ref, ADDED_AT, NOON)] == []

    def test_missed_times_are_stored_with_the_cursor(self, jobs: JobStore, job: Job) -> None:
        assert jobs.move_cursor(job, NOON, NOON + DAY, missed=[OUTAGE])
        assert [*jobs.spans(job.ref, ADDED_AT, NOON)] == [OUTAGE]

    def test_a_repeated_plan_returns_the_first_result(self, jobs: JobStore, job: Job) -> None:
        for _ in range(2):
            assert jobs.move_cursor(job, NOON, NOON + DAY, missed=[OUTAGE])
        assert stored_job(jobs, job.ref).cursor == NOON
        assert [*jobs.spans(job.ref, ADDED_AT, NOON)] == [OUTAGE]

    def test_without_a_job_no_cursor_moves(self, jobs: JobStore) -> None:
        job = nightly()
        assert not jobs.move_cursor(job, NOON, NOON + DAY, missed=[OUTAGE])
        assert jobs.get(job.ref) is None
        assert [*jobs.spans(job.ref, ADDED_AT, NOON)] == []

    def test_of_many_plans_at_once_exactly_one_moves_the_cursor(self, jobs: JobStore, job: Job) -> None:
        answers = together(
            [partial(jobs.move_cursor, job, NOON + place * SECOND, NOON + DAY) for place in range(CROWD)]
        )
        assert answers.count(True) == 1
        assert stored_job(jobs, job.ref).cursor == NOON + answers.index(True) * SECOND


class CountContract(JobsContract):
    """`count`: the tally of a run that held no lock."""

    def test_each_end_is_counted_in_the_tally(self, store: ActionStore, jobs: JobStore, job: Job) -> None:
        run = claim(store, scheduled(store).ref)
        tally = job.tally
        for number, status in enumerate(("failed", "executed", "failed", "failed", "cancelled", "skipped")):
            one = replace(
                ended(run, Status(status), f"problem {number}" if status == "failed" else None),
                id=f"run-{number}",
                started_at=NOON + number * MINUTE,
            )
            jobs.count(job.ref, one)
            tally = counted(one, tally)
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

    def test_many_runs_counted_at_once_are_all_counted(self, jobs: JobStore, job: Job) -> None:
        ends = [
            EndedRun(id=f"run-{number}", status="failed", started_at=NOON, error="x")
            for number in range(CROWD)
        ]
        together([partial(jobs.count, job.ref, end) for end in ends])
        tally = stored_job(jobs, job.ref).tally
        assert (tally.failed, tally.consecutive_failures) == (CROWD, CROWD)
