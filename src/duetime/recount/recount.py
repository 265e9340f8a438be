"""*Recount*: once a day, account for the nominal times of the last days, and look at some one-shots.

The catch-up runs it, one job after another; what a pass leaves, the next one goes on with. The report is a
bookmark. Findings are reported once for each job: as an item, of which an event is published, and as stuck
work, which the alarm of undelivered inputs shows.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from duetime import instant
from duetime.errors import DuetimeError, truncate
from duetime.ids import ActionId, TenantId
from duetime.model.action import Action, Status
from duetime.model.built_in import is_built_in
from duetime.model.deadline_report import DeadlineReport, ReportKind
from duetime.model.job import Job, JobRef
from duetime.model.metric import Metric
from duetime.model.recount import (
    BEGUN,
    BOOKMARK,
    REPORT,
    Account,
    Finding,
    RecountProblem,
    RecountReport,
    begun_report,
    last_report,
)
from duetime.ports.action_store import ActionStore
from duetime.ports.backends import Backends
from duetime.ports.meter import UNMETERED, Meter, Subject
from duetime.recount.job_account import JobAccount, JobToAccount, account_for

MOST_TENANTS = 100
_OF_TENANT, _OF_SHARD = 50, 20
_LEAST = timedelta(microseconds=1)


class OneShotSample:
    """Looks at some one-shots; of all of them a recount would cost too much."""

    def __init__(self, actions: ActionStore) -> None:
        self._actions = actions
        self.counts, self.findings = Counter[str](), list[Finding]()

    def look(self, tenants: Iterable[TenantId], until: datetime) -> None:
        """Look at one-shots of some tenants, and of those whose actions are overdue at an instant.

        Raises:
            BackendUnavailable: they cannot be read.
        """
        known = dict.fromkeys([*tenants, *self._overdue_tenants(until)])
        for tenant_id in [*known][:MOST_TENANTS]:
            for row in self._actions.of_tenant(tenant_id, limit=_OF_TENANT, cursor=None):
                if not is_built_in(row.type):
                    self._look_at(row, until)

    def _overdue_tenants(self, until: datetime) -> Iterator[TenantId]:
        for shard in self._actions.due_shards:
            page = self._actions.due(shard, after=None, until=until, limit=_OF_SHARD, cursor=None)
            yield from (entry.ref.tenant_id for entry in page.entries)

    def _look_at(self, row: Action, until: datetime) -> None:
        problem = self._problem(row, until)
        if problem is not None:
            self.findings.append(
                Finding(problem=problem, tenant_id=row.tenant_id, at=row.due_at, action_id=row.id)
            )
        else:
            self.counts[Account(row.status.value) if row.status.is_final else Account.OPEN] += 1

    def _problem(self, row: Action, until: datetime) -> RecountProblem | None:
        if row.status.is_final:
            return _problem_of_final(row)
        is_lost = row.status is Status.PENDING and row.due_at <= until and not self._is_in_due_index(row)
        return RecountProblem.NOT_IN_DUE_INDEX if is_lost else None

    def _is_in_due_index(self, row: Action) -> bool:
        """Return whether a scan finds a row; the row is read again, for it may have moved meanwhile."""
        if self._is_found(row):
            return True
        again = self._actions.get(row.ref)
        return again is None or again.status is not Status.PENDING or again.due_at != row.due_at

    def _is_found(self, row: Action) -> bool:
        cursor = None
        while True:
            page = self._actions.due(
                row.due_shard, after=row.due_at - _LEAST, until=row.due_at, limit=_OF_TENANT, cursor=cursor
            )
            if any(entry.ref == row.ref for entry in page.entries):
                return True
            if (cursor := page.cursor) is None:
                return False


def _problem_of_final(row: Action) -> RecountProblem | None:
    if row.status is Status.SKIPPED and row.skip_reason is None:
        return RecountProblem.NO_REASON
    has_run = row.status is not Status.EXECUTED or bool(row.attempts)
    return None if has_run and row.kept_until is not None else RecountProblem.NO_END


log = logging.getLogger(__name__)

DAYS = timedelta(days=2)
"""The time that is recounted: each nominal time at least once, most of them twice."""

SETTLED_AFTER = timedelta(hours=1)
"""See `Recount`."""

_DAY = timedelta(days=1)
_PAGE = 200


class Recount:
    """Recounts the runs of all jobs.

    Args:
        settled_after: the time after a job's grace in which planners and workers record the last times.
        is_paused: returns whether all work of a tenant is paused. Its jobs are left out: nothing is planned.
        report_stuck: reports what waits for the operators.
    """

    def __init__(
        self,
        backends: Backends,
        *,
        settled_after: timedelta = SETTLED_AFTER,
        is_paused: Callable[[TenantId], bool] = lambda _tenant: False,
        meter: Meter = UNMETERED,
        report_stuck: Callable[[str], None] = lambda _text: None,
    ) -> None:
        self._actions, self._jobs, self._bookmarks = backends.store, backends.jobs, backends.bookmarks
        self._clock, self._settings, self._is_paused = backends.clock, backends.settings, is_paused
        self._meter, self._report_stuck, self._settled_after = meter, report_stuck, settled_after

    def is_due(self) -> bool:
        """Return whether a recount has begun and is not finished, or none has ended on this day in UTC.

        Raises:
            BackendUnavailable: the last report cannot be read.
        """
        marks, today = self._bookmarks.read(BOOKMARK), instant.floor(self._clock.now(), _DAY)
        last = last_report(marks)
        return self._settings.enabled and (BEGUN in marks or last is None or last.began_at < today)

    def __call__(self, *, stop_at: datetime) -> RecountReport:
        """Recount until done, or until `stop_at`; return the report, in which `next_job` is empty if done.

        Raises:
            BackendUnavailable: the report cannot be stored; the next pass recounts again.
        """
        marks = dict(self._bookmarks.read(BOOKMARK))
        report = begun_report(marks) or self._new()
        refs = sorted(self._refs(), key=_place)
        for ref in refs:
            if _place(ref) < report.next_job:
                continue
            if self._clock.now() >= stop_at:
                report = replace(report, next_job=_place(ref))
                self._bookmarks.write(BOOKMARK, {**marks, BEGUN: report.to_json()})
                return report
            report = self._with_job(report, ref)
        report = self._with_one_shots(replace(report, next_job=""), refs)
        report = replace(report, ended_at=self._clock.now())
        self._bookmarks.write(BOOKMARK, {REPORT: report.to_json()})
        if report.found:
            first = in_words(report.findings[0])
            self._report_stuck(
                f"a recount found {report.found}; `duetime access audit runs` lists them. {first}"
            )
        return report

    def _new(self) -> RecountReport:
        now = self._clock.now()
        until = now - self._settings.job_grace - self._settled_after
        since = max(until - DAYS, now - self._settings.retention + SETTLED_AFTER)
        return RecountReport(began_at=now, since=min(since, until), until=until)

    def _refs(self) -> Iterator[JobRef]:
        cursor = None
        while True:
            refs, cursor = self._jobs.due_for_maintenance(instant.LATEST, limit=_PAGE, cursor=cursor)
            yield from (ref for ref in refs if isinstance(ref, JobRef))
            if cursor is None:
                return

    def _with_job(self, report: RecountReport, ref: JobRef) -> RecountReport:
        if self._is_paused(ref.tenant_id):
            return replace(report, left_out=report.left_out + 1)
        try:
            job = self._jobs.get(ref)
            if job is None or job.definition.self_scheduled:
                return report
            account = self._account(job, report)
            if account.findings:
                self._report(job, account.findings)
        except (DuetimeError, ValueError, LookupError) as error:
            log.warning("job not recounted", extra={"job": ref.name, "reason": truncate(error)})
            return replace(report, unread=(*report.unread, _place(ref)))
        return report.plus(account.findings, account.times)

    def _account(self, job: Job, report: RecountReport) -> JobAccount:
        stored = JobToAccount(
            job=job,
            versions=self._jobs.versions(job.ref),
            spans=self._jobs.spans(job.ref, report.since, report.until),
            start=report.since,
            end=report.until,
        )

        def rows(version: int, start: datetime, end: datetime) -> Iterator[Action]:
            cursor = None
            while True:
                page = self._actions.occurrences(
                    job.ref.tenant_id, job.name, version, after=start, until=end, limit=_PAGE, cursor=cursor
                )
                yield from page
                if (cursor := page.cursor) is None:
                    return

        return account_for(stored, rows)

    def _report(self, job: Job, findings: Sequence[Finding]) -> None:
        """Store a report of a job's findings, once for the first of them."""
        first, now = min(findings, key=lambda found: found.at), self._clock.now()
        report = DeadlineReport(
            kind=ReportKind.UNACCOUNTED,
            nominal_at=first.at,
            deadline_at=first.at + self._settings.job_grace + self._settled_after,
            at=now,
            status=first.problem.value,
            reason=f"{len(findings)} nominal times have no proper result" if len(findings) > 1 else "",
            run_id=None if first.action_id is None else ActionId(first.action_id),
        )
        if self._jobs.report(job.ref, report):
            self._meter.add(Metric.UNACCOUNTED, of=Subject(job.definition.type, job.ref.tenant_id))
        log.error(Metric.UNACCOUNTED.value, extra={"job": job.name, "found": in_words(first)})

    def _with_one_shots(self, report: RecountReport, refs: Sequence[JobRef]) -> RecountReport:
        sample = OneShotSample(self._actions)
        try:
            sample.look((ref.tenant_id for ref in refs), report.until)
        except DuetimeError as error:
            log.warning("one-shots not recounted", extra={"reason": truncate(error)})
            return report
        return report.with_one_shots(sample.findings, sample.counts)


def _place(ref: JobRef) -> str:
    return f"{ref.tenant_id}/{ref.name}"


def in_words(found: Finding) -> str:
    """Return a finding in a line: ``no_row: books-close at 2027-03-02T03:00:00Z``."""
    return f"{found.problem}: {found.job or found.action_id} at {found.at:%Y-%m-%dT%H:%M:%SZ}"
