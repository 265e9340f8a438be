"""*Check deadlines*: report nominal times that have not succeeded in time, and silent jobs.

The planner puts a check with each row of a job that has a deadline; see `duetime.model.deadline`. A look
reads the job and the run, and returns when to look again:

=================================  ==========================================================================
a nominal time                     the look
=================================  ==========================================================================
succeeded by the deadline          ends
excused: paused, removed, retired, ends
skipped on request
not yet, before the deadline       predicts its end; an end after the deadline is reported
not yet, after the deadline        reports the miss
=================================  ==========================================================================

The present definition decides, so a changed deadline applies at once. A report is written if it is absent: a
repeated look, another planner's check and a redeploy report nothing twice. The last look comes `clock_skew`
after the deadline, and compares the end of the run with the deadline: clocks of two machines differ.

A job with `every_success_within` has one check at a time. It is due when the silence would be too long, and
puts the next one.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from statistics import median

from duetime import ids, instant
from duetime.errors import NotFound
from duetime.jobs.explain import Explain
from duetime.jobs.occurrence_status import Occurrence, OccurrenceStatus
from duetime.jobs.trusted_reading import KnownPauses
from duetime.model.action import Action, ActionRef, SkipReason, Status
from duetime.model.deadline import check_row
from duetime.model.deadline_report import DeadlineReport, ReportKind
from duetime.model.job import WHOLE_JOB, Job, JobRef, SpanKind
from duetime.model.metric import Metric
from duetime.ports.backends import JobTables
from duetime.ports.meter import UNMETERED, Meter, Subject

log = logging.getLogger(__name__)

_METRICS = {
    ReportKind.MISSED: Metric.DEADLINE_MISSED,
    ReportKind.AT_RISK: Metric.DEADLINE_AT_RISK,
    ReportKind.SILENT: Metric.SILENT,
}
_REASONS = {
    OccurrenceStatus.PENDING: "its run has not begun, or waits for a retry",
    OccurrenceStatus.PROCESSING: "its run has not ended",
    OccurrenceStatus.EXECUTED: "its run succeeded after the deadline",
}
_USUAL_OF, _PAGE = 30, 200
_SHORTEST_REST = timedelta(minutes=2)
"""With less time to the deadline, only the look at its end follows."""

_SECOND, _DAY = timedelta(seconds=1), timedelta(days=1)
_REMEMBERED = timedelta(days=400)


ENOUGH_RUNS = 3
"""Fewer runs have no usual run time."""


class CheckDeadlines:
    """Looks at one nominal time, or at one job's silence."""

    def __init__(
        self,
        backends: JobTables,
        *,
        pauses: KnownPauses,
        meter: Meter = UNMETERED,
    ) -> None:
        self._actions, self._jobs, self._pauses, self._meter = backends.store, backends.jobs, pauses, meter
        self._clock, self._settings = backends.clock, backends.settings
        self._explain = Explain(backends)

    def nominal_time(self, ref: JobRef, at: datetime) -> datetime | None:
        """Look at a nominal time; return when to look again, None if that is not needed.

        Raises:
            BackendUnavailable: nothing may have been reported; look again.
        """
        job = self._watched(ref)
        entry = None if job is None else self._entry(ref, at)
        if job is None or entry is None or entry.deadline_at is None or self._is_covered(job, entry):
            return None
        if entry.executed_at is not None and entry.executed_at <= entry.deadline_at:
            return None
        ends_at = entry.deadline_at + self._settings.clock_skew
        if self._clock.now() >= ends_at:
            self._report(job, _report_of(entry, entry.deadline_at, ReportKind.MISSED, self._clock.now()))
            return None
        return self._forecast(job, entry, entry.deadline_at) or ends_at

    def silence(self, ref: JobRef) -> None:
        """Look at a job's last success, and put its next check.

        Raises:
            BackendUnavailable: nothing may have been reported, or no next check put; look again.
        """
        job, now = self._jobs.get(ref), self._clock.now()
        if job is None or job.removed_at is not None or job.definition.every_success_within is None:
            return
        if _is_paused(job):
            return  # the change that ends the pause puts the next check
        span = timedelta(seconds=job.definition.every_success_within)
        if self._pauses.of_tenant(ref.tenant_id) is not None:
            self._put_next(job, now.replace(microsecond=0) + span)
            return
        last = max(
            self._jobs.reports(ref, ReportKind.SILENT, now - _REMEMBERED, now), key=_begin, default=None
        )
        since = self._silent_since(job, now, now - span)
        if since + span <= now and (last is None or since > last.nominal_at):
            report = DeadlineReport(
                kind=ReportKind.SILENT, nominal_at=since, deadline_at=since + span, at=now
            )
            self._report(job, report)
        self._put_next(job, since + span * max(1, (now - since) // span + 1))

    def _put_next(self, job: Job, due_at: datetime) -> None:
        self._actions.put(check_row(job, due_at, len(self._actions.due_shards), nominal_at=None))

    def _watched(self, ref: JobRef) -> Job | None:
        """Return the job unless nothing of it is reported: it is removed, or its tenant is paused."""
        job = self._jobs.get(ref)
        is_watched = (
            job is not None and job.removed_at is None and self._pauses.of_tenant(ref.tenant_id) is None
        )
        return job if is_watched else None

    def _entry(self, ref: JobRef, at: datetime) -> Occurrence | None:
        try:
            found = self._explain(ref, at - _SECOND, at)
        except NotFound:
            return None
        return next((entry for entry in found if entry.at == at and entry.deadline_at is not None), None)

    def _is_covered(self, job: Job, entry: Occurrence) -> bool:
        """Return whether the run of a previous version, which covers this time, succeeded by the deadline."""
        if entry.reason != SkipReason.COVERED or entry.deadline_at is None:
            return False
        made = (ids.occurrence_id(job.name, number, entry.at) for number in job.ends)
        rows = (self._actions.get(ActionRef(job.ref.tenant_id, action_id)) for action_id in made)
        ends = [row.executed_at for row in rows if row is not None and row.executed_at is not None]
        return any(end <= entry.deadline_at for end in ends)

    def _forecast(self, job: Job, entry: Occurrence, deadline: datetime) -> datetime | None:
        """Report a miss that the usual run time predicts; return when to look before the deadline."""
        if entry.account not in {OccurrenceStatus.PENDING, OccurrenceStatus.PROCESSING}:
            return None
        now = self._clock.now()
        usual = usual_run_time(
            self._actions.of_job(job.ref.tenant_id, job.name, limit=_USUAL_OF, cursor=None)
        )
        if usual is None:
            return None
        row = entry.action_id and self._actions.get(ActionRef(job.ref.tenant_id, entry.action_id))
        expected = _begin_of(row or None, now) + usual
        if expected > deadline:
            self._report(job, _report_of(entry, deadline, ReportKind.AT_RISK, now, expected))
            return None
        rest = deadline - now
        looks = [deadline - usual, now + rest / 2] if rest > _SHORTEST_REST else [deadline - usual]
        return min((at for at in looks if at > now), default=None)

    def _silent_since(self, job: Job, now: datetime, start: datetime) -> datetime:
        """Return the beginning of the present silence: the last success, or the end of a pause.

        Args:
            job: the job.
            now: the present time.
            start: a silence that began after it is not reported, so its exact beginning is not needed.
        """
        last = next(self._successes(job), None) or job.anchor
        if last > start:
            return last
        spans = self._jobs.spans(job.ref, last, now)
        resumed = [
            span.end
            for span in spans
            if span.cadence == WHOLE_JOB and span.kind in {SpanKind.PAUSED, SpanKind.DISABLED}
        ]
        return max([last, *resumed])

    def _successes(self, job: Job) -> Iterator[datetime]:
        """Yield the ends of executed runs, the latest nominal time first, without those of backfills."""
        cursor = None
        while True:
            page = self._actions.of_job(
                job.ref.tenant_id,
                job.name,
                limit=_PAGE,
                cursor=cursor,
                has_events=bool(job.cadence_set.triggers),
            )
            current = (run for run in page if ids.backfill_of(run.id) is None)
            yield from (run.executed_at for run in current if run.executed_at is not None)
            if (cursor := page.cursor) is None:
                return

    def _report(self, job: Job, report: DeadlineReport) -> None:
        if not self._jobs.report(job.ref, report):
            return
        metric = _METRICS[report.kind]
        self._meter.add(metric, of=Subject(job.definition.type, job.ref.tenant_id))
        log.warning(
            metric.value,
            extra={
                "tenant": job.ref.tenant_id,
                "type": job.definition.type,
                "job": job.name,
                "nominal_at": instant.text(report.nominal_at),
                "deadline_at": instant.text(report.deadline_at),
                "action": report.run_id,
                "reason": report.reason or None,
            },
        )


def _report_of(
    entry: Occurrence, deadline: datetime, kind: ReportKind, now: datetime, expected: datetime | None = None
) -> DeadlineReport:
    return DeadlineReport(
        kind=kind,
        nominal_at=entry.at,
        deadline_at=deadline,
        at=now,
        status=entry.account.value,
        reason=entry.note or entry.reason or _REASONS.get(entry.account, ""),
        run_id=entry.action_id,
        expected_at=expected,
    )


def _begin_of(row: Action | None, now: datetime) -> datetime:
    """Return when the run of a nominal time began, or begins at the earliest."""
    if row is None:
        return now
    if row.status is Status.PROCESSING and row.attempts:
        return row.attempts[-1].started_at
    return max(row.due_at, now)


def _begin(report: DeadlineReport) -> datetime:
    return report.nominal_at


def _is_paused(job: Job) -> bool:
    return job.is_paused or all(cadence.name in job.pauses for cadence in job.cadence_set.cadences)


def usual_run_time(runs: Iterable[Action]) -> timedelta | None:
    """Return the median time of the last attempt of executed runs; None for too few."""
    times = [
        (last.finished_at - last.started_at).total_seconds()
        for run in runs
        if run.status is Status.EXECUTED
        for last in run.attempts[-1:]
        if last.finished_at is not None
    ]
    return timedelta(seconds=median(times)) if len(times) >= ENOUGH_RUNS else None
