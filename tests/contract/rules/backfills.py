"""Backfills: begun with their job's revision, read, listed, changed, and found by passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from duetime import instant
from duetime.ids import backfill_run_id
from duetime.model.action import Trigger
from duetime.model.backfill import (
    Backfill,
    BackfillOrder,
    BackfillRef,
    BackfillState,
    backfill_ref_of,
)
from duetime.model.job import WHOLE_JOB, Job
from duetime.model.transition import started
from duetime.ports.action_store import ActionStore
from duetime.ports.job_store import JobStore
from duetime.ports.jobs import LockRequirement
from duetime_contract.job_specimens import (
    DAY,
    NIGHTLY,
    PAUSE,
    REINDEX,
    added,
    nightly,
    occurrence,
    stored_job,
    taking,
)
from duetime_contract.races import CROWD, together
from duetime_contract.specimens import (
    CALLER,
    HOUR,
    NOON,
    SECOND,
    TICK,
    put,
    read_all,
    stored_row,
    terms,
    unchanged,
)
from duetime_contract.subject import JobsContract


def backfill(job: Job, backfill_id: str = "0badcafe", **fields: Any) -> Backfill:
    """Return an unwritten backfill of a job, with `fields` instead of the usual ones."""
    start, until = NOON - 20 * DAY, NOON - 10 * DAY
    usual: dict[str, Any] = {
        "version": job.version,
        "start": start,
        "until": until,
        "total": 10,
        "begun_by": CALLER,
        "begun_at": NOON,
        "rest_from": start,
        "rest_until": until,
    }
    return Backfill(ref=BackfillRef(job.ref, backfill_id), **usual | fields)


def begun(jobs: JobStore, job: Job, backfill_id: str = "0badcafe", **fields: Any) -> Backfill:
    """Return a backfill that has begun."""
    new = backfill(job, backfill_id, **fields)
    assert jobs.begin_backfill(stored_job(jobs, job.ref), new)
    return new


class BackfillContract(JobsContract):
    """`begin_backfill`, `find_backfill`, `backfills`, `change_backfill` and the index of passes."""

    def test_a_begun_backfill_is_read_back_with_every_field(self, jobs: JobStore, job: Job) -> None:
        full = begun(
            jobs,
            job,
            order=BackfillOrder.NEWEST,
            at_once=7,
            again=True,
            state=BackfillState.CANCELLED,
            rest_from=NOON - 15 * DAY + TICK,
            open=(NOON - 13 * DAY, NOON - 14 * DAY),
            executed=1,
            failed=2,
            skipped=3,
            cancelled=4,
            left_out=5,
            changed_by="ops",
            changed_at=NOON + SECOND,
            ended_at=NOON + HOUR,
            revision=9,
        )
        assert jobs.find_backfill(full.ref) == full
        plain = begun(jobs, job, "00000001")
        assert jobs.find_backfill(plain.ref) == plain
        assert jobs.find_backfill(BackfillRef(job.ref, "00000002")) is None

    def test_a_begin_counts_as_a_change_of_the_job_and_changes_nothing_else(
        self, jobs: JobStore, job: Job
    ) -> None:
        begun(jobs, job)
        assert jobs.get(job.ref) == replace(job, revision=job.revision + 1)
        assert not jobs.change(job, replace(job, pauses={WHOLE_JOB: PAUSE}))

    def test_a_begin_after_another_change_of_the_job_is_rejected(self, jobs: JobStore, job: Job) -> None:
        jobs.change(job, replace(job, pauses={WHOLE_JOB: PAUSE}))
        with unchanged(jobs.get, job.ref):
            assert not jobs.begin_backfill(job, backfill(job))
        assert [*jobs.backfills(job.ref)] == []

    def test_a_begin_without_a_job_is_rejected(self, jobs: JobStore) -> None:
        assert not jobs.begin_backfill(nightly(), backfill(nightly()))
        assert jobs.find_backfill(backfill(nightly()).ref) is None

    def test_another_backfill_of_the_same_id_is_rejected(self, jobs: JobStore, job: Job) -> None:
        first = begun(jobs, job)
        other = replace(first, begun_at=NOON + SECOND, total=3)
        assert not jobs.begin_backfill(stored_job(jobs, job.ref), other)
        assert jobs.find_backfill(first.ref) == first

    def test_a_repeated_begin_returns_the_first_result(self, jobs: JobStore, job: Job) -> None:
        first = begun(jobs, job)
        assert jobs.begin_backfill(job, first)
        assert jobs.get(job.ref) == replace(job, revision=job.revision + 1)
        changed = replace(first, executed=1, revision=2)
        assert jobs.change_backfill(first, changed)
        assert jobs.begin_backfill(job, first)
        assert jobs.find_backfill(first.ref) == changed

    def test_of_many_begins_at_once_exactly_one_succeeds(self, jobs: JobStore, job: Job) -> None:
        rivals = [backfill(job, f"{number:08x}", total=number) for number in range(CROWD)]
        answers = together([partial(jobs.begin_backfill, job, rival) for rival in rivals])
        assert answers.count(True) == 1
        assert [*jobs.backfills(job.ref)] == [rivals[answers.index(True)]]

    def test_a_change_replaces_the_backfill(self, jobs: JobStore, job: Job) -> None:
        first = begun(jobs, job, open=(NOON - 19 * DAY,), changed_by="ops", left_out=4)
        changed = replace(
            first, open=(), executed=1, changed_by=None, left_out=0, state=BackfillState.PAUSED, revision=2
        )
        assert jobs.change_backfill(first, changed)
        assert jobs.find_backfill(first.ref) == changed

    def test_a_change_of_an_older_revision_is_rejected(self, jobs: JobStore, job: Job) -> None:
        first = begun(jobs, job)
        assert jobs.change_backfill(first, replace(first, state=BackfillState.PAUSED, revision=2))
        with unchanged(jobs.find_backfill, first.ref):
            assert not jobs.change_backfill(first, replace(first, executed=1, revision=2))
            assert not jobs.change_backfill(
                replace(first, revision=8), replace(first, executed=1, revision=9)
            )

    def test_a_change_of_none_makes_none(self, jobs: JobStore, job: Job) -> None:
        absent = backfill(job)
        assert not jobs.change_backfill(absent, replace(absent, revision=2))
        assert jobs.find_backfill(absent.ref) is None

    def test_a_repeated_change_returns_the_first_result(self, jobs: JobStore, job: Job) -> None:
        first = begun(jobs, job)
        changed = replace(first, executed=1, revision=2)
        assert jobs.change_backfill(first, changed)
        assert jobs.change_backfill(first, changed)
        assert jobs.find_backfill(first.ref) == changed

    def test_of_many_changes_at_once_exactly_one_succeeds(self, jobs: JobStore, job: Job) -> None:
        first = begun(jobs, job)
        rivals = [replace(first, executed=number, revision=2) for number in range(CROWD)]
        answers = together([partial(jobs.change_backfill, first, rival) for rival in rivals])
        assert answers.count(True) == 1
        assert jobs.find_backfill(first.ref) == rivals[answers.index(True)]

    def test_a_jobs_backfills_are_listed_the_latest_first(self, jobs: JobStore, job: Job) -> None:
        other = added(jobs, REINDEX)
        early = begun(jobs, job, "ffffffff")
        late = begun(jobs, job, "00000001", begun_at=NOON + TICK)
        begun(jobs, other, "00000003")
        assert [*jobs.backfills(job.ref)] == [late, early]

    def test_a_backfill_is_in_no_list_of_jobs_and_no_part_of_its_job(self, jobs: JobStore, job: Job) -> None:
        versions = jobs.versions(job.ref)
        begun(jobs, job)
        self.let_indexes_follow()
        page = jobs.list(job.ref.tenant_id, limit=10, cursor=None)
        assert [item.ref for item in page] == [job.ref]
        assert [*jobs.versions(job.ref)] == [*versions]
        assert [*jobs.spans(job.ref, NOON - 90 * DAY, NOON + DAY)] == []

    @pytest.mark.parametrize("limit", [1, 2, 50])
    def test_passes_find_those_that_need_steps_beside_the_jobs(self, jobs: JobStore, limit: int) -> None:
        job, other = added(jobs, maintain_at=NOON - HOUR), added(jobs, REINDEX, maintain_at=NOON + DAY)
        running = begun(jobs, job)
        draining = begun(jobs, other, state=BackfillState.PAUSED, open=(NOON - 20 * DAY,))
        begun(jobs, job, "00000001", state=BackfillState.PAUSED)
        begun(jobs, job, "00000002", state=BackfillState.COMPLETED, ended_at=NOON)
        begun(jobs, job, "00000003", begun_at=NOON + HOUR)
        found = self._due(jobs, limit)
        assert found == sorted([job.ref, running.ref, draining.ref], key=str)

    def test_a_change_takes_it_out_of_that_index_and_back(self, jobs: JobStore) -> None:
        job = added(jobs, maintain_at=instant.LATEST)
        running = begun(jobs, job)
        assert self._due(jobs) == [running.ref]
        paused = replace(running, state=BackfillState.PAUSED, revision=2)
        assert jobs.change_backfill(running, paused)
        assert self._due(jobs) == []
        assert jobs.change_backfill(paused, replace(running, revision=3))
        assert self._due(jobs) == [running.ref]

    def test_a_run_of_it_is_in_its_jobs_history_and_takes_no_lock(
        self, store: ActionStore, jobs: JobStore, job: Job
    ) -> None:
        parent = backfill(job)
        row = replace(
            occurrence(store, NOON - 19 * DAY),
            id=backfill_run_id(NIGHTLY, 1, NOON - 19 * DAY, parent.id),
            due_at=NOON,
            first_due_at=NOON - 19 * DAY,
        )
        put(store, row)
        read = stored_row(store, row.ref)
        assert (read.trigger, read.nominal_at) == (Trigger.BACKFILL, NOON - 19 * DAY)
        assert backfill_ref_of(read) == parent.ref
        page = store.occurrences(
            job.ref.tenant_id, NIGHTLY, 1, after=NOON - 20 * DAY, until=NOON, limit=5, cursor=None
        )
        assert [found.id for found in page] == [row.id]
        claim = replace(taking(read, job, LockRequirement.NOTHING), claimed=started(read, terms()))
        assert jobs.claim(claim)
        assert jobs.get(job.ref) == job

    def _due(self, jobs: JobStore, limit: int = 50) -> Sequence[object]:
        self.let_indexes_follow()
        return sorted(
            read_all(lambda cursor: jobs.due_for_maintenance(NOON, limit=limit, cursor=cursor)), key=str
        )
