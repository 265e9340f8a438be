"""What a job is and how far it is: added, changed, planned and counted; its versions and spans, and the lists of jobs."""
# ruff: noqa: D102, S101, PLR2004 - a test's name is its sentence

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

import pytest

from duetime import instant
from duetime.action import Status
from duetime.ids import JobName, TenantId
from duetime.job import (
    WHOLE_JOB,
    Ended,
    Job,
    JobRef,
    Origin,
    Overlap,
    Pause,
    Span,
    SpanKind,
    Tally,
    Tuning,
    Version,
)
from duetime.job_ports import JobStore
from duetime.ports import ActionStore
from duetime.testing.contract.job_specimens import (
    ADDED_AT,
    DAY,
    NIGHTLY,
    REINDEX,
    added,
    ended,
    nightly,
    occurrence,
    standing_job,
    taken,
)
from duetime.testing.contract.races import CROWD, together
from duetime.testing.contract.specimens import (
    ACME,
    GLOBEX,
    HOUR,
    MINUTE,
    MOST_PAGES,
    NOON,
    SECOND,
    TICK,
    claim,
    scheduled,
)
from duetime.testing.contract.subject import JobsContract

PAUSE = Pause(since=NOON - HOUR, by="ops", reason="until the audit is over, März", until=NOON + DAY)
OUTAGE = Span(kind=SpanKind.MISSED, start=NOON - 2 * DAY, end=NOON - DAY)
OPERATED: dict[str, Any] = {
    "ends": {1: NOON - 9 * DAY, 2: NOON - DAY + TICK},
    "pauses": {WHOLE_JOB: PAUSE, "daily_12:00": Pause(since=NOON, by="ops")},
    "dropped_at": NOON + TICK,
    "tuning": {
        WHOLE_JOB: Tuning(attempts=5),
        "daily_12:00": Tuning(backoff=(0.5, 60.0, 3_600.0), jitter=0.25),
    },
    "wakes": "2 schedules, 1 rule",
    "registered_by": "billing-service",
    "idempotency_key": "registration-1",
}
"""Every field that operators and reconcile set, with more than its default."""


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

    def test_an_added_job_keeps_every_field(self, jobs: JobStore) -> None:
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

    def test_an_added_job_has_its_first_version(self, jobs: JobStore) -> None:
        job = added(jobs)
        assert [*jobs.versions(job.ref)] == [Version(number=1, definition=job.definition, since=ADDED_AT)]

    def test_another_job_of_that_name_is_not_added(self, jobs: JobStore) -> None:
        job = added(jobs)
        other = nightly(definition=replace(job.definition, type="open-books"), cursor=NOON)
        assert not jobs.add(other)
        assert jobs.get(job.ref) == job
        assert [each.definition for each in jobs.versions(job.ref)] == [job.definition]

    def test_a_job_that_was_changed_since_it_was_added_is_left_alone(self, jobs: JobStore) -> None:
        job = added(jobs)
        jobs.change(job, replace(job, pauses={WHOLE_JOB: PAUSE}))
        before = jobs.get(job.ref)
        jobs.add(job)
        assert jobs.get(job.ref) == before

    def test_a_job_that_was_dropped_is_still_there(self, jobs: JobStore) -> None:
        job = added(jobs, dropped_at=NOON)
        assert not jobs.add(nightly())
        assert jobs.get(job.ref) == job

    def test_of_many_jobs_of_one_name_added_at_once_exactly_one_is(self, jobs: JobStore) -> None:
        rivals = [nightly(registered_by=f"caller-{number}") for number in range(CROWD)]
        answers = together([partial(jobs.add, each) for each in rivals])
        assert answers.count(True) == 1
        assert jobs.get(rivals[0].ref) == rivals[answers.index(True)]

    def test_a_job_is_no_action_of_its_tenant(self, store: ActionStore, jobs: JobStore) -> None:
        job = added(jobs)
        assert len(store.of_tenant(ACME, limit=5, cursor=None)) == 0
        assert len(store.of_job(ACME, job.name, limit=5, cursor=None, has_events=True)) == 0

    def test_a_tenants_jobs_come_by_name_dropped_ones_included(self, jobs: JobStore) -> None:
        for name in ("kb-reindex", "billing-nightly", "mail-digest"):
            added(jobs, JobName(name), dropped_at=NOON if name == "kb-reindex" else None)
        self.let_indexes_follow()
        listed = jobs.list(ACME, limit=10, cursor=None)
        assert [job.name for job in listed] == ["billing-nightly", "kb-reindex", "mail-digest"]
        assert listed.cursor is None

    @pytest.mark.parametrize("limit", [1, 4, 9])
    def test_pages_of_a_tenants_jobs_lose_and_double_none(self, jobs: JobStore, limit: int) -> None:
        names = [added(jobs, JobName(f"report-{letter}")).name for letter in "gbaihdfec"]
        self.let_indexes_follow()
        listed: list[Job] = []
        cursor = None
        for _ in range(MOST_PAGES):
            page = jobs.list(ACME, limit=limit, cursor=cursor)
            assert len(page) <= limit
            listed += page
            cursor = page.cursor
            if cursor is None:
                break
        assert [job.name for job in listed] == sorted(names)

    def test_a_tenants_list_has_its_own_jobs_only(self, jobs: JobStore) -> None:
        mine = added(jobs)
        added(jobs, tenant_id=GLOBEX)
        added(jobs, tenant_id=TenantId("acme-west"))
        self.let_indexes_follow()
        assert [job.ref for job in jobs.list(ACME, limit=5, cursor=None)] == [mine.ref]
        assert len(jobs.list(TenantId("nobody"), limit=5, cursor=None)) == 0

    def test_a_listed_job_is_read_as_of_now(self, store: ActionStore, jobs: JobStore) -> None:
        job = added(jobs)
        jobs.change(job, replace(job, pauses={WHOLE_JOB: PAUSE}))
        taken(store, jobs, standing_job(jobs, job.ref))
        self.let_indexes_follow()
        assert [*jobs.list(ACME, limit=5, cursor=None)] == [standing_job(jobs, job.ref)]


class AttendContract(JobsContract):
    """`to_attend`."""

    def test_jobs_of_all_tenants_are_to_be_attended_when_their_time_has_come(self, jobs: JobStore) -> None:
        early = added(jobs, attend_at=NOON - TICK)
        on_time = added(jobs, REINDEX, attend_at=NOON)
        theirs = added(jobs, tenant_id=GLOBEX, attend_at=NOON - DAY)
        added(jobs, JobName("mail-digest"), attend_at=NOON + TICK)
        assert self._to_attend(jobs, NOON) == sorted([early.ref, on_time.ref, theirs.ref], key=str)

    @pytest.mark.parametrize("limit", [1, 3, 50])
    def test_pages_of_jobs_to_attend_lose_and_double_none(self, jobs: JobStore, limit: int) -> None:
        refs = [
            added(jobs, JobName(f"report-{number}"), tenant, attend_at=NOON - number * MINUTE).ref
            for number in range(7)
            for tenant in (ACME, GLOBEX)
        ]
        assert self._to_attend(jobs, NOON, limit) == sorted(refs, key=str)

    def test_jobs_with_one_time_are_all_found_page_by_page(self, jobs: JobStore) -> None:
        refs = [added(jobs, JobName(f"report-{number}")).ref for number in range(9)]
        assert self._to_attend(jobs, NOON + HOUR, 2) == sorted(refs, key=str)

    def test_the_latest_instant_finds_every_job_dropped_ones_too(self, jobs: JobStore) -> None:
        refs = [
            added(jobs, attend_at=instant.LATEST).ref,
            added(jobs, REINDEX, dropped_at=NOON, attend_at=instant.LATEST).ref,
            added(jobs, JobName("mail-digest")).ref,
        ]
        assert self._to_attend(jobs, instant.LATEST) == sorted(refs, key=str)

    def test_a_job_moves_in_that_index_with_each_change_and_each_plan(self, jobs: JobStore) -> None:
        changed, planned = added(jobs), added(jobs, REINDEX)
        assert jobs.change(changed, replace(changed, attend_at=NOON + 3 * HOUR))
        assert jobs.move_cursor(planned, NOON, NOON + 2 * HOUR)
        assert self._to_attend(jobs, NOON + HOUR) == []
        assert self._to_attend(jobs, NOON + 2 * HOUR) == [planned.ref]
        assert self._to_attend(jobs, NOON + 3 * HOUR) == sorted([changed.ref, planned.ref], key=str)

    def test_without_jobs_there_is_nothing_to_attend(self, jobs: JobStore) -> None:
        assert self._to_attend(jobs, instant.LATEST) == []

    def _to_attend(self, jobs: JobStore, until: datetime, limit: int = 50) -> Sequence[JobRef]:
        self.let_indexes_follow()
        found: list[JobRef] = []
        cursor = None
        for _ in range(MOST_PAGES):
            refs, cursor = jobs.to_attend(until, limit=limit, cursor=cursor)
            assert len(refs) <= limit
            found += refs
            if cursor is None:
                return sorted(found, key=str)
        raise AssertionError("the pages of jobs to attend never end")


class JobChangeContract(JobsContract):
    """`change`, `versions` and `spans`."""

    def test_a_change_writes_every_field_that_it_may(self, jobs: JobStore) -> None:
        job = added(jobs)
        definition = replace(job.definition, type="open-books", title="Open the books", overlap=Overlap.ALLOW)
        new = replace(
            job,
            definition=definition,
            version=2,
            since=NOON,
            cursor=NOON,
            attend_at=NOON + DAY,
            **OPERATED | {"ends": {1: NOON}},
        )
        assert jobs.change(job, new)
        assert jobs.get(job.ref) == replace(new, revision=2)

    def test_a_change_takes_away_what_the_new_job_has_not(self, jobs: JobStore) -> None:
        job = added(jobs, **OPERATED)
        bare = nightly()
        assert jobs.change(job, bare)
        assert jobs.get(job.ref) == replace(bare, revision=2)

    def test_each_change_has_the_next_revision(self, jobs: JobStore) -> None:
        job = added(jobs)
        for number in range(3):
            job = standing_job(jobs, job.ref)
            assert jobs.change(job, replace(job, wakes=f"{number} schedules"))
        assert standing_job(jobs, job.ref).revision == 4

    def test_a_change_of_an_older_revision_changes_nothing(self, jobs: JobStore) -> None:
        old = added(jobs)
        assert jobs.change(old, replace(old, pauses={WHOLE_JOB: PAUSE}))
        before = jobs.get(old.ref)
        definition = replace(old.definition, type="open-books")
        late = replace(old, definition=definition, version=2, since=NOON, ends={1: NOON})
        assert not jobs.change(old, late, spans=[OUTAGE])
        assert jobs.get(old.ref) == before
        assert [each.number for each in jobs.versions(old.ref)] == [1]
        assert [*jobs.spans(old.ref, ADDED_AT, NOON)] == []

    def test_nothing_is_changed_where_there_is_no_job(self, jobs: JobStore) -> None:
        job = nightly()
        assert not jobs.change(job, replace(job, wakes="1 schedule"))
        assert jobs.get(job.ref) is None

    def test_a_repeated_change_tells_what_its_first_try_did(self, jobs: JobStore) -> None:
        job = added(jobs)
        definition = replace(job.definition, type="open-books")
        new = replace(
            job, definition=definition, version=2, since=NOON, cursor=NOON, **OPERATED | {"ends": {1: NOON}}
        )
        for _ in range(2):
            assert jobs.change(job, new, spans=[OUTAGE])
        assert jobs.get(job.ref) == replace(new, revision=2)
        assert [each.number for each in jobs.versions(job.ref)] == [1, 2]
        assert [*jobs.spans(job.ref, ADDED_AT, NOON)] == [OUTAGE]

    def test_a_repeated_change_is_told_of_even_where_a_plan_came_between(self, jobs: JobStore) -> None:
        job = added(jobs)
        new = replace(job, pauses={WHOLE_JOB: PAUSE})
        assert jobs.change(job, new)
        assert jobs.move_cursor(standing_job(jobs, job.ref), NOON, NOON + DAY)
        before = jobs.get(job.ref)
        assert jobs.change(job, new)
        assert jobs.get(job.ref) == before

    def test_of_many_changes_at_once_exactly_one_wins_each_revision(self, jobs: JobStore) -> None:
        job = added(jobs)
        for revision in (1, 2, 3):
            rivals = [
                replace(job, pauses={WHOLE_JOB: Pause(since=NOON, by=f"operator-{number}-{revision}")})
                for number in range(CROWD)
            ]
            answers = together([partial(jobs.change, job, each) for each in rivals])
            assert answers.count(True) == 1
            job = standing_job(jobs, job.ref)
            assert job == replace(rivals[answers.index(True)], revision=revision + 1)

    def test_a_change_leaves_who_runs_and_the_tally_alone(self, store: ActionStore, jobs: JobStore) -> None:
        old = added(jobs)
        first, second = taken(store, jobs, old), occurrence(store, NOON + DAY)
        assert jobs.wait(old, second.ref)
        jobs.count(old.ref, Ended(id="one", status="failed", started_at=NOON, error="no ledger"))
        meant = replace(old, wakes="1 schedule", running=None, waiting=None, tally=Tally())
        assert jobs.change(old, meant)
        job = standing_job(jobs, old.ref)
        assert (job.running, job.waiting, job.wakes) == (first.ref, second.ref, "1 schedule")
        assert (job.tally.failed, job.tally.last_error) == (1, "no ledger")

    def test_a_change_leaves_origin_and_anchor_alone(self, jobs: JobStore) -> None:
        job = added(jobs)
        assert jobs.change(job, replace(job, origin=Origin.RUNTIME, anchor=NOON))
        assert (standing_job(jobs, job.ref).origin, standing_job(jobs, job.ref).anchor) == (
            Origin.CODE,
            ADDED_AT,
        )

    def test_a_plan_does_not_stand_in_the_way_of_a_change(self, jobs: JobStore) -> None:
        job = added(jobs)
        assert jobs.move_cursor(job, NOON, NOON + DAY)
        assert jobs.change(job, replace(job, pauses={WHOLE_JOB: PAUSE}))
        assert standing_job(jobs, job.ref).is_paused

    def test_a_new_version_is_kept_beside_the_former_whose_end_is_noted(self, jobs: JobStore) -> None:
        first = added(jobs)
        second = self._next_version(jobs, first, "open-books", NOON)
        third = self._next_version(jobs, second, "audit-books", NOON + DAY)
        assert [*jobs.versions(first.ref)] == [
            Version(number=1, definition=first.definition, since=ADDED_AT, until=NOON),
            Version(number=2, definition=second.definition, since=NOON, until=NOON + DAY),
            Version(number=3, definition=third.definition, since=NOON + DAY),
        ]
        assert dict(third.ends) == {1: NOON, 2: NOON + DAY}

    def test_versions_are_in_the_order_of_their_numbers(self, jobs: JobStore) -> None:
        job = added(jobs)
        for number in range(2, 13):
            job = self._next_version(jobs, job, f"type-{number}", NOON + number * MINUTE)
        assert [each.number for each in jobs.versions(job.ref)] == list(range(1, 13))

    def test_a_changed_definition_of_the_same_version_replaces_it(self, jobs: JobStore) -> None:
        job = added(jobs)
        definition = replace(job.definition, title="Close the books")
        assert jobs.change(job, replace(job, definition=definition))
        assert [*jobs.versions(job.ref)] == [Version(number=1, definition=definition, since=ADDED_AT)]

    def test_a_job_that_never_was_has_no_versions(self, jobs: JobStore) -> None:
        added(jobs)
        assert [*jobs.versions(JobRef(ACME, REINDEX))] == []
        assert [*jobs.versions(JobRef(GLOBEX, NIGHTLY))] == []

    def test_spans_are_kept_with_a_change(self, jobs: JobStore) -> None:
        job = added(jobs)
        span = Span(
            kind=SpanKind.PAUSED,
            start=NOON - HOUR,
            end=NOON + TICK,
            cadence="daily_12:00",
            by="ops",
            reason="the audit, März",
        )
        assert jobs.change(job, job, spans=[span])
        assert [*jobs.spans(job.ref, NOON - DAY, NOON + DAY)] == [span]

    def test_spans_are_found_where_they_overlap_and_come_by_their_start(self, jobs: JobStore) -> None:
        job = added(jobs)
        spans = [
            Span(kind=SpanKind.MISSED, start=NOON + start * HOUR, end=NOON + end * HOUR)
            for start, end in ((6, 8), (0, 2), (2, 4), (-9, 20), (4, 6))
        ]
        assert jobs.change(job, job, spans=spans)
        found = jobs.spans(job.ref, NOON + 2 * HOUR, NOON + 6 * HOUR)
        assert [(each.start - NOON) // HOUR for each in found] == [-9, 2, 4]

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
        self, jobs: JobStore, start: datetime, end: datetime, is_found: bool
    ) -> None:
        job = added(jobs)
        jobs.change(job, job, spans=[Span(kind=SpanKind.MISSED, start=NOON, end=NOON + HOUR)])
        assert bool(jobs.spans(job.ref, start, end)) is is_found

    def test_spans_of_two_cadences_over_one_time_are_both_kept(self, jobs: JobStore) -> None:
        job = added(jobs)
        spans = [Span(kind=SpanKind.PAUSED, start=NOON, end=NOON + HOUR, cadence=each) for each in ("a", "b")]
        jobs.change(job, job, spans=spans)
        assert {each.cadence for each in jobs.spans(job.ref, NOON, NOON + DAY)} == {"a", "b"}

    def test_spans_are_those_of_their_job_alone(self, jobs: JobStore) -> None:
        job, other, theirs = added(jobs), added(jobs, REINDEX), added(jobs, tenant_id=GLOBEX)
        jobs.change(job, job, spans=[OUTAGE])
        assert [[*jobs.spans(each.ref, ADDED_AT, NOON)] for each in (other, theirs)] == [[], []]

    def _next_version(self, jobs: JobStore, job: Job, type_name: str, at: datetime) -> Job:
        definition = replace(job.definition, type=type_name)
        ends = {**job.ends, job.version: at}
        new = replace(job, definition=definition, version=job.version + 1, since=at, cursor=at, ends=ends)
        assert jobs.change(job, new)
        return standing_job(jobs, job.ref)


class CursorContract(JobsContract):
    """`move_cursor`: how far a job is planned."""

    def test_a_plan_moves_the_cursor_and_nothing_else(self, jobs: JobStore) -> None:
        job = added(jobs, **OPERATED)
        assert jobs.move_cursor(job, NOON + DAY, NOON + 2 * DAY)
        assert jobs.get(job.ref) == replace(job, cursor=NOON + DAY, attend_at=NOON + 2 * DAY)

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
        assert standing_job(jobs, job.ref).cursor == NOON
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
        assert standing_job(jobs, job.ref).cursor == NOON + answers.index(True) * SECOND


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
            assert standing_job(jobs, job.ref).tally == tally
        assert (tally.executed, tally.failed, tally.consecutive_failures) == (1, 3, 2)

    def test_counting_changes_nothing_but_the_tally(self, jobs: JobStore) -> None:
        job = added(jobs, **OPERATED)
        jobs.count(job.ref, Ended(id="run-1", status="executed", started_at=NOON))
        assert replace(standing_job(jobs, job.ref), tally=Tally()) == job
        assert jobs.change(job, replace(job, wakes=""))

    def test_counting_for_a_job_that_never_was_makes_none(self, jobs: JobStore) -> None:
        ref = JobRef(ACME, NIGHTLY)
        jobs.count(ref, Ended(id="run-1", status="executed", started_at=NOON))
        assert jobs.get(ref) is None
        assert jobs.add(nightly())

    def test_many_runs_counted_at_once_are_all_counted(self, jobs: JobStore) -> None:
        job = added(jobs)
        ends = [
            Ended(id=f"run-{number}", status="failed", started_at=NOON, error="x") for number in range(CROWD)
        ]
        together([partial(jobs.count, job.ref, each) for each in ends])
        tally = standing_job(jobs, job.ref).tally
        assert (tally.failed, tally.consecutive_failures) == (CROWD, CROWD)
