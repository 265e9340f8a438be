"""What reconcile and operators change of a job; its versions and its spans."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from functools import partial

import pytest

from duetime.model.job import (
    WHOLE_JOB,
    Job,
    JobRef,
    JobSpan,
    Origin,
    Overlap,
    Pause,
    SpanKind,
    Version,
    current_definition,
)
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
    nightly,
    occurrence,
    stored_job,
    taken,
)
from duetime_contract.races import CROWD, together
from duetime_contract.specimens import ACME, GLOBEX, HOUR, MINUTE, NOON, TICK, unchanged
from duetime_contract.subject import JobsContract


class JobChangeContract(JobsContract):
    """`change`, `versions` and `spans`."""

    def test_a_change_writes_every_field_that_it_may(self, jobs: JobStore, job: Job) -> None:
        definition = replace(job.definition, type="open-books", title="Open the books", overlap=Overlap.ALLOW)
        new = replace(
            job,
            definition=definition,
            version=2,
            since=NOON,
            cursor=NOON,
            maintain_at=NOON + DAY,
            **OPERATED | {"ends": {1: NOON}},
        )
        assert jobs.change(job, new)
        assert jobs.get(job.ref) == replace(new, revision=2)

    def test_a_change_removes_fields_that_the_new_job_lacks(self, jobs: JobStore) -> None:
        job = added(jobs, **OPERATED)
        bare = nightly()
        assert jobs.change(job, bare)
        assert jobs.get(job.ref) == replace(bare, revision=2)

    def test_a_registrations_key_is_stored_with_its_end(self, jobs: JobStore) -> None:
        job = added(jobs, idempotency_key="k-1", idempotency_until=NOON)
        assert (job.holds_key("k-1", NOON - TICK), job.holds_key("k-1", NOON)) == (True, False)
        assert jobs.change(
            job, replace(job, registered_at=NOON, idempotency_key="k-2", idempotency_until=NOON + DAY)
        )
        job_row = stored_job(jobs, job.ref)
        assert (job_row.holds_key("k-1", NOON - TICK), job_row.holds_key("k-2", NOON + DAY - TICK)) == (
            False,
            True,
        )
        assert jobs.change(job_row, replace(job_row, idempotency_key=None, idempotency_until=None))
        assert not stored_job(jobs, job.ref).holds_key("k-2", NOON)

    def test_a_registrations_key_is_its_tenants_own(self, jobs: JobStore) -> None:
        mine = added(jobs, idempotency_key="k-1", idempotency_until=NOON)
        theirs = added(jobs, tenant_id=GLOBEX, idempotency_key="k-1", idempotency_until=NOON + DAY)
        assert jobs.change(theirs, replace(theirs, idempotency_until=NOON - DAY))
        assert stored_job(jobs, mine.ref).holds_key("k-1", NOON - TICK)
        assert not stored_job(jobs, theirs.ref).holds_key("k-1", NOON - TICK)

    def test_each_change_has_the_next_revision(self, jobs: JobStore, job: Job) -> None:
        for number in range(3):
            job = stored_job(jobs, job.ref)
            assert jobs.change(job, replace(job, wakes=WakeState(number, 0, "0a")))
        assert stored_job(jobs, job.ref).revision == 4

    def test_a_change_of_an_older_revision_changes_nothing(self, jobs: JobStore, job: Job) -> None:
        assert jobs.change(job, replace(job, pauses={WHOLE_JOB: PAUSE}))
        with unchanged(jobs.get, job.ref):
            late = replace(
                job,
                definition=replace(job.definition, type="open-books"),
                version=2,
                since=NOON,
                ends={1: NOON},
            )
            assert not jobs.change(job, late, spans=[OUTAGE])
        assert [version.number for version in jobs.versions(job.ref)] == [1]
        assert [*jobs.spans(job.ref, ADDED_AT, NOON)] == []

    def test_without_a_job_nothing_changes(self, jobs: JobStore) -> None:
        job = nightly()
        assert not jobs.change(job, replace(job, wakes=WakeState(1, 0, "0a")))
        assert jobs.get(job.ref) is None

    def test_a_repeated_change_returns_the_first_result(self, jobs: JobStore, job: Job) -> None:
        new = replace(
            job,
            definition=replace(job.definition, type="open-books"),
            version=2,
            since=NOON,
            cursor=NOON,
            **OPERATED | {"ends": {1: NOON}},
        )
        for _ in range(2):
            assert jobs.change(job, new, spans=[OUTAGE])
        assert jobs.get(job.ref) == replace(new, revision=2)
        assert [version.number for version in jobs.versions(job.ref)] == [1, 2]
        assert [*jobs.spans(job.ref, ADDED_AT, NOON)] == [OUTAGE]

    def test_a_repeated_change_returns_the_first_result_though_a_plan_came_between(
        self, jobs: JobStore, job: Job
    ) -> None:
        new = replace(job, pauses={WHOLE_JOB: PAUSE})
        assert jobs.change(job, new)
        assert jobs.move_cursor(stored_job(jobs, job.ref), NOON, NOON + DAY)
        with unchanged(jobs.get, job.ref):
            assert jobs.change(job, new)

    def test_of_many_changes_at_once_exactly_one_wins_each_revision(self, jobs: JobStore, job: Job) -> None:
        for revision in (1, 2, 3):
            rivals = [
                replace(job, pauses={WHOLE_JOB: Pause(since=NOON, by=f"operator-{number}-{revision}")})
                for number in range(CROWD)
            ]
            answers = together([partial(jobs.change, job, rival) for rival in rivals])
            assert answers.count(True) == 1
            job = stored_job(jobs, job.ref)
            assert job == replace(rivals[answers.index(True)], revision=revision + 1)

    def test_a_change_retains_the_running_action_and_the_tally(
        self, store: ActionStore, jobs: JobStore
    ) -> None:
        old = added(jobs)
        first, second = taken(store, jobs, old), occurrence(store, NOON + DAY)
        assert jobs.wait(stored_job(jobs, old.ref), second.ref)
        jobs.count(old.ref, EndedRun(id="one", status="failed", started_at=NOON, error="no ledger"))
        assert jobs.change(
            old, replace(old, wakes=WakeState(1, 0, "0a"), running=None, waiting=None, tally=RunStats())
        )
        job = stored_job(jobs, old.ref)
        assert (job.running, job.waiting, job.wakes) == (first.ref, second.ref, WakeState(1, 0, "0a"))
        assert (job.tally.failed, job.tally.last_error) == (1, "no ledger")

    def test_a_change_leaves_origin_and_anchor_alone(self, jobs: JobStore, job: Job) -> None:
        assert jobs.change(job, replace(job, origin=Origin.RUNTIME, anchor=NOON))
        assert (stored_job(jobs, job.ref).origin, stored_job(jobs, job.ref).anchor) == (
            Origin.CODE,
            ADDED_AT,
        )

    def test_a_plan_does_not_stand_in_the_way_of_a_change(self, jobs: JobStore, job: Job) -> None:
        assert jobs.move_cursor(job, NOON, NOON + DAY)
        assert jobs.change(job, replace(job, pauses={WHOLE_JOB: PAUSE}))
        assert stored_job(jobs, job.ref).is_paused

    def test_a_new_version_is_stored_and_ends_the_previous_one(self, jobs: JobStore, job: Job) -> None:
        second = self._next_version(jobs, job, "open-books", NOON)
        third = self._next_version(jobs, second, "audit-books", NOON + DAY)
        assert [*jobs.versions(job.ref)] == [
            Version(number=1, definition=job.definition, since=ADDED_AT, until=NOON),
            Version(number=2, definition=second.definition, since=NOON, until=NOON + DAY),
            Version(number=3, definition=third.definition, since=NOON + DAY),
        ]
        assert dict(third.ends) == {1: NOON, 2: NOON + DAY}

    def test_versions_are_in_the_order_of_their_numbers(self, jobs: JobStore, job: Job) -> None:
        for number in range(2, 13):
            job = self._next_version(jobs, job, f"type-{number}", NOON + number * MINUTE)
        assert [version.number for version in jobs.versions(job.ref)] == list(range(1, 13))

    def test_a_changed_definition_of_the_same_version_replaces_it(self, jobs: JobStore, job: Job) -> None:
        definition = replace(job.definition, title="Close the books")
        assert jobs.change(job, replace(job, definition=definition))
        assert [*jobs.versions(job.ref)] == [Version(number=1, definition=definition, since=ADDED_AT)]

    def test_the_end_of_a_version_stores_its_definition(self, jobs: JobStore, job: Job) -> None:
        second = self._next_version(jobs, job, "open-books", NOON)
        assert [*jobs.definitions(job.ref)] == [
            replace(current_definition(job), until=NOON),
            current_definition(second),
        ]

    def test_an_edit_of_a_registered_job_stores_the_definition_before_it(self, jobs: JobStore) -> None:
        job = added(jobs, origin=Origin.RUNTIME, registered_at=ADDED_AT + TICK, registered_by="ann")
        first = self._edited(jobs, job, "Close the books", "ben", NOON)
        second = self._edited(jobs, first, "Close all books", "cem", NOON + HOUR)
        third = self._next_version(jobs, second, "open-books", NOON + DAY)
        assert [
            (stored.id, stored.version, stored.by, stored.since, stored.until, stored.definition.title)
            for stored in jobs.definitions(job.ref)
        ] == [
            ("1.1", 1, "ann", ADDED_AT + TICK, NOON, job.definition.title),
            ("1.2", 1, "ben", NOON, NOON + HOUR, "Close the books"),
            ("1", 1, "cem", NOON + HOUR, NOON + DAY, "Close all books"),
            ("2", 2, "cem", NOON + HOUR, None, "Close all books"),
        ]
        assert [version.number for version in jobs.versions(third.ref)] == [1, 2]

    def test_an_edit_of_a_job_of_code_stores_no_definition(self, jobs: JobStore, job: Job) -> None:
        edited = self._edited(jobs, job, "Close the books", "deploy", NOON)
        assert [*jobs.definitions(job.ref)] == [current_definition(edited)]

    def test_a_change_without_another_definition_stores_none(self, jobs: JobStore) -> None:
        job = added(jobs, origin=Origin.RUNTIME)
        assert jobs.change(job, replace(job, pauses={WHOLE_JOB: PAUSE}))
        assert [stored.id for stored in jobs.definitions(job.ref)] == ["1"]

    def test_a_job_that_never_was_has_no_definitions(self, jobs: JobStore) -> None:
        added(jobs, origin=Origin.RUNTIME)
        assert [*jobs.definitions(JobRef(ACME, REINDEX))] == []
        assert [*jobs.definitions(JobRef(GLOBEX, NIGHTLY))] == []

    def _edited(self, jobs: JobStore, job: Job, title: str, by: str, at: datetime) -> Job:
        """Change the title alone, and return the stored job."""
        definition = replace(job.definition, title=title)
        assert jobs.change(job, replace(job, definition=definition, registered_by=by, registered_at=at))
        return stored_job(jobs, job.ref)

    def test_a_job_that_never_was_has_no_versions(self, jobs: JobStore) -> None:
        added(jobs)
        assert [*jobs.versions(JobRef(ACME, REINDEX))] == []
        assert [*jobs.versions(JobRef(GLOBEX, NIGHTLY))] == []

    def test_a_change_stores_spans(self, jobs: JobStore, job: Job) -> None:
        span = JobSpan(
            kind=SpanKind.PAUSED,
            start=NOON - HOUR,
            end=NOON + TICK,
            cadence="daily_12:00",
            by="ops",
            reason="the audit, März",
        )
        assert jobs.change(job, job, spans=[span])
        assert [*jobs.spans(job.ref, NOON - DAY, NOON + DAY)] == [span]

    def test_overlapping_spans_are_found_ordered_by_their_start(self, jobs: JobStore, job: Job) -> None:
        spans = [
            JobSpan(kind=SpanKind.MISSED, start=NOON + start * HOUR, end=NOON + end * HOUR)
            for start, end in ((6, 8), (0, 2), (2, 4), (-9, 20), (4, 6))
        ]
        assert jobs.change(job, job, spans=spans)
        assert [
            (span.start - NOON) // HOUR for span in jobs.spans(job.ref, NOON + 2 * HOUR, NOON + 6 * HOUR)
        ] == [-9, 2, 4]

    @pytest.mark.parametrize(
        ("start", "end", "is_found"),
        [
            (NOON - HOUR, NOON, False),
            (NOON - HOUR, NOON + TICK, True),
            (NOON + HOUR - TICK, NOON + DAY, True),
            (NOON + HOUR, NOON + DAY, False),
            (NOON + MINUTE, NOON + 2 * MINUTE, True),
        ],
    )
    def test_the_start_of_a_span_lies_outside_it_and_its_end_inside(
        self, jobs: JobStore, start: datetime, end: datetime, is_found: bool, job: Job
    ) -> None:
        jobs.change(job, job, spans=[JobSpan(kind=SpanKind.MISSED, start=NOON, end=NOON + HOUR)])
        assert bool(jobs.spans(job.ref, start, end)) is is_found

    def test_spans_of_two_cadences_over_one_time_are_both_stored(self, jobs: JobStore, job: Job) -> None:
        spans = [
            JobSpan(kind=SpanKind.PAUSED, start=NOON, end=NOON + HOUR, cadence=name) for name in ("a", "b")
        ]
        jobs.change(job, job, spans=spans)
        assert {span.cadence for span in jobs.spans(job.ref, NOON, NOON + DAY)} == {"a", "b"}

    def test_spans_are_those_of_their_job_alone(self, jobs: JobStore) -> None:
        job, other, theirs = added(jobs), added(jobs, REINDEX), added(jobs, tenant_id=GLOBEX)
        jobs.change(job, job, spans=[OUTAGE])
        assert [[*jobs.spans(job.ref, ADDED_AT, NOON)] for job in (other, theirs)] == [[], []]

    def _next_version(self, jobs: JobStore, job: Job, type_name: str, at: datetime) -> Job:
        new = replace(
            job,
            definition=replace(job.definition, type=type_name),
            version=job.version + 1,
            since=at,
            cursor=at,
            ends={**job.ends, job.version: at},
        )
        assert jobs.change(job, new)
        return stored_job(jobs, job.ref)
