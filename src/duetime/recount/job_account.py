"""Account for the nominal times of one job in (start, end]: its times, rows and spans are compared. Pure.

=====================================  ====================================================================
a nominal time of a version            is
=====================================  ====================================================================
with a final row                       executed, failed, cancelled, skipped or missed, as the row states
with another row                       open
without a row, in a span, a pause or   skipped or missed, for all of its cadences
after the removal
beyond the cursor of a paused job      open: the resume records it
anything else                          a finding
=====================================  ====================================================================
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from duetime import ids
from duetime.cadence import parse
from duetime.ids import PLANNER
from duetime.model.action import Action, SkipReason, Status
from duetime.model.job import WHOLE_JOB, Job, JobSpan, SpanKind, Version
from duetime.model.recount import Account, Finding, RecountProblem
from duetime.recount.nominal_times import NominalTimes

MOST_TIMES = 20_000
"""The nominal times of one job that are looked at: of a job with more, the latest."""

Rows = Callable[[int, datetime, datetime], Iterable[Action]]
"""Returns the rows of a version with a nominal time in (start, end], oldest first."""

_Times = Mapping[datetime, Sequence[str]]
"""The nominal times of a version, each with the names of its cadences."""

_SHORTEST = timedelta(minutes=1)


@dataclass(slots=True)
class JobAccount:
    """The counts of a job's nominal times by `Account`, and what is wrong."""

    times: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobToAccount:
    """A job as it is stored, and the time to account for.

    Attributes:
        spans: those that overlap (start, end].
    """

    job: Job
    versions: Sequence[Version]
    spans: Sequence[JobSpan]
    start: datetime
    end: datetime


def account_for(stored: JobToAccount, rows: Rows) -> JobAccount:
    """Return the account of a job's nominal times in (start, end]."""
    return _Accountant(stored, rows).account()


class _Accountant:
    def __init__(self, stored: JobToAccount, rows: Rows) -> None:
        self._stored, self._job, self._rows_of = stored, stored.job, rows
        self._result, self._ran = JobAccount(), defaultdict[datetime, list[Action]](list)

    def account(self) -> JobAccount:
        for version in self._stored.versions:
            after = max(version.since, self._stored.start)
            until = min(version.until or self._stored.end, self._stored.end)
            if version.definition.self_scheduled:
                continue
            after, times = self._times(version, after, until)
            rows = {
                ids.nominal_at(row.id): row
                for row in self._rows_of(version.number, after, self._stored.end)
                if not ids.is_beside_plan(row.id)
            }
            self._compare(version, times, rows, until)
            self._check_made_up(version, after, times, rows)
        for at, ran in self._ran.items():
            if len(ran) > 1:
                self._find(RecountProblem.RAN_TWICE, at, ids.version_of(ran[-1].id), ran[-1])
        return self._result

    def _times(self, version: Version, start: datetime, end: datetime) -> tuple[datetime, _Times]:
        """Return a version's nominal times in (start, end], and the start: it is later if they are many."""
        ref, counted = self._job.ref, version.definition.counted
        named = [
            (cadence.name, NominalTimes(cadence, self._job.anchor, f"{ref.tenant_id}/{ref.name}", counted))
            for cadence in map(parse, version.definition.cadences)
        ]
        while True:
            found = defaultdict[datetime, list[str]](list)
            for at, name in _all(named, start, end):
                found[at].append(name)
                if len(found) > MOST_TIMES:
                    break
            else:
                return start, found
            start = max(start + _SHORTEST, start + (end - start) / 2)

    def _compare(
        self, version: Version, times: _Times, rows: Mapping[datetime, Action], until: datetime
    ) -> None:
        for at, row in rows.items():
            if row.attempt:
                self._ran[at].append(row)
            if at <= until and at not in times and row.status is not Status.SKIPPED:
                self._find(RecountProblem.NOT_NOMINAL, at, version.number, row)
        for at, names in times.items():
            if at in rows:
                self._with_row(version, at, rows[at])
            else:
                self._without_row(version, at, names)

    def _with_row(self, version: Version, at: datetime, row: Action) -> None:
        if not row.status.is_final:
            self._result.times[Account.OPEN] += 1
        elif row.skip_reason is SkipReason.MISSED:
            self._result.times[Account.MISSED] += 1
        elif row.status is Status.SKIPPED and row.skip_reason is None:
            self._find(RecountProblem.NO_REASON, at, version.number, row)
        else:
            self._result.times[Account(row.status.value)] += 1

    def _without_row(self, version: Version, at: datetime, names: Sequence[str]) -> None:
        reasons = [self._reason(version, at, name) for name in names]
        if all(reasons):
            self._result.times[Account.MISSED if Account.MISSED in reasons else Account.SKIPPED] += 1
        elif self._is_beyond_plan(version, at):
            if self._job.is_live:
                self._find(RecountProblem.NOT_PLANNED, at, version.number)
            else:
                self._result.times[Account.OPEN] += 1
        else:
            self._find(RecountProblem.NO_ROW, at, version.number)

    def _reason(self, version: Version, at: datetime, name: str) -> Account | None:
        """Return how one cadence's time without a row is accounted for; None if it is not."""
        kinds = {span.kind for span in self._stored.spans if _covers(span, at, name)}
        if kinds & {SpanKind.PAUSED, SpanKind.DISABLED} or self._is_under_pause(at, name):
            return Account.SKIPPED
        if SpanKind.MISSED in kinds:
            return Account.MISSED
        removed_at = self._job.removed_at
        if version.number == self._job.version and removed_at is not None and removed_at < at:
            return Account.SKIPPED
        return None

    def _is_under_pause(self, at: datetime, name: str) -> bool:
        pauses = (self._job.pauses[key] for key in (WHOLE_JOB, name) if key in self._job.pauses)
        return any(pause.since < at and (pause.until is None or at <= pause.until) for pause in pauses)

    def _is_beyond_plan(self, version: Version, at: datetime) -> bool:
        """Return whether the planner has not come to a time, or returns to it after a pause."""
        ends = [pause.until for pause in self._job.pauses.values() if pause.until is not None]
        return version.number == self._job.version and at > min([self._job.cursor, *ends])

    def _check_made_up(
        self, version: Version, after: datetime, times: _Times, rows: Mapping[datetime, Action]
    ) -> None:
        """Check that the latest missed times have rows, as many as the job ran later."""
        for span in self._latest_spans(after):
            missed = [
                at
                for at, names in times.items()
                if span.start < at <= span.end
                and not all(self._reason(version, at, name) is Account.SKIPPED for name in names)
            ]
            for at in sorted(missed)[-span.catch_up :]:
                if at not in rows:
                    self._find(RecountProblem.NOT_MADE_UP_FOR, at, version.number)

    def _latest_spans(self, after: datetime) -> Iterator[JobSpan]:
        """Yield the missed spans, of overlapping ones the last: a pause that ended late planned it again."""
        spans = [span for span in self._stored.spans if span.kind is SpanKind.MISSED and span.by == PLANNER]
        for span in spans:
            is_last = not any(other.start < span.end < other.end for other in spans)
            if span.catch_up and is_last and span.start >= after:
                yield span

    def _find(
        self, problem: RecountProblem, at: datetime, version: int | None, row: Action | None = None
    ) -> None:
        ref = self._job.ref
        self._result.findings.append(
            Finding(
                problem=problem,
                tenant_id=ref.tenant_id,
                job=ref.name,
                version=version,
                at=at,
                action_id=None if row is None else row.id,
            )
        )


def _all(
    named: Sequence[tuple[str, NominalTimes]], start: datetime, end: datetime
) -> Iterator[tuple[datetime, str]]:
    for name, times in named:
        yield from ((at, name) for at in times.between(start, end))


def _covers(span: JobSpan, at: datetime, name: str) -> bool:
    return span.start < at <= span.end and span.cadence in {WHOLE_JOB, name}
