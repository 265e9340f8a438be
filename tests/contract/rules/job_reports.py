"""The reports of deadlines beside a job."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from duetime.ids import occurrence_id
from duetime.model.deadline_report import DeadlineReport, ReportKind
from duetime.model.job import Job
from duetime.ports.job_store import JobStore
from duetime_contract.job_specimens import ADDED_AT, DAY, NIGHTLY, REINDEX, added
from duetime_contract.races import CROWD, together
from duetime_contract.specimens import HOUR, NOON, TICK
from duetime_contract.subject import JobsContract

_LATE = DeadlineReport(
    kind=ReportKind.MISSED,
    nominal_at=NOON,
    deadline_at=NOON + HOUR,
    at=NOON + HOUR + TICK,
    status="processing",
    reason="its run has not ended, März",
    run_id=occurrence_id(NIGHTLY, 1, NOON),
    expected_at=NOON + 2 * HOUR,
)


class DeadlineReportContract(JobsContract):
    """`report` and `reports`."""

    def test_a_report_is_stored_once_as_it_was_first(self, jobs: JobStore, job: Job) -> None:
        bare = DeadlineReport(kind=ReportKind.MISSED, nominal_at=NOON, deadline_at=NOON, at=NOON)
        assert [jobs.report(job.ref, report) for report in (_LATE, _LATE, bare)] == [True, False, False]
        assert jobs.reports(job.ref, ReportKind.MISSED, NOON - TICK, NOON) == [_LATE]

    def test_each_kind_time_and_job_has_its_own(self, jobs: JobStore, job: Job) -> None:
        other = added(jobs, REINDEX)
        for ref in (job.ref, other.ref):
            for kind in ReportKind:
                assert all(
                    jobs.report(ref, replace(_LATE, kind=kind, nominal_at=NOON + shift))
                    for shift in (TICK, HOUR)
                )
        found = jobs.reports(job.ref, ReportKind.SILENT, NOON - DAY, NOON + DAY)
        assert [(report.kind, report.nominal_at) for report in found] == [
            (ReportKind.SILENT, NOON + TICK),
            (ReportKind.SILENT, NOON + HOUR),
        ]

    def test_reports_of_a_window_exclude_its_start_and_include_its_end(
        self, jobs: JobStore, job: Job
    ) -> None:
        times = [NOON, NOON + TICK, NOON + HOUR, NOON + HOUR + TICK]
        for at in reversed(times):
            jobs.report(job.ref, replace(_LATE, nominal_at=at))
        found = jobs.reports(job.ref, ReportKind.MISSED, NOON, NOON + HOUR)
        assert [report.nominal_at for report in found] == times[1:3]
        assert jobs.reports(job.ref, ReportKind.AT_RISK, NOON - DAY, NOON + DAY) == []

    def test_a_report_changes_no_job_version_or_span(self, jobs: JobStore, job: Job) -> None:
        before = (jobs.get(job.ref), jobs.versions(job.ref), jobs.spans(job.ref, ADDED_AT, NOON + DAY))
        jobs.report(job.ref, _LATE)
        assert (
            jobs.get(job.ref),
            jobs.versions(job.ref),
            jobs.spans(job.ref, ADDED_AT, NOON + DAY),
        ) == before
        assert jobs.change(job, replace(job, registered_by="ops"))
        assert jobs.reports(job.ref, ReportKind.MISSED, NOON - TICK, NOON) == [_LATE]

    def test_racing_reports_of_one_time_store_one(self, jobs: JobStore, job: Job) -> None:
        answers = together([partial(jobs.report, job.ref, _LATE)] * CROWD)
        assert answers.count(True) == 1
