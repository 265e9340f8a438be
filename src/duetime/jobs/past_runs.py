"""Find which past nominal times of a job already ran, so that a backfill leaves them out.

A time is left out if a row of it was executed, or is pending or processing, in whatever version of the job or
backfill. A time whose row was removed after the retention is left out too: its run is unknown. Times that
failed, or were skipped or missed, are not left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from duetime import ids
from duetime._lazy_property import lazy_property
from duetime.model.action import Action, Status
from duetime.model.backfill import Backfill
from duetime.model.job import WHOLE_JOB, Job, JobSpan, Version
from duetime.ports.actions import ActionStore
from duetime.ports.jobs import JobStore

FORGOTTEN = "forgotten"
"""The status of a time whose row was removed after the retention."""

_LEAST = timedelta(microseconds=1)
_SLACK = timedelta(hours=1)
"""Longer than a change of version takes: a time at that change may belong to both versions."""
_PAGE = 200
_RAN = (Status.EXECUTED, Status.PROCESSING, Status.PENDING)


class PastRuns:
    """The past runs of one job, as they are now."""

    def __init__(
        self, actions: ActionStore, jobs: JobStore, job: Job, *, now: datetime, retention: timedelta
    ) -> None:
        self._actions, self._jobs, self._job = actions, jobs, job
        self._known_since = now - retention

    def left_out(self, times: Sequence[datetime], but: Backfill | None = None) -> Mapping[datetime, str]:
        """Return those of some nominal times that already ran, or will, each with its status.

        Args:
            times: the nominal times, in a range without many others.
            but: the backfill whose own runs do not count.
        """
        if not times:
            return {}
        requested, found = set(times), dict[datetime, Status]()
        for row in self._rows(min(times), max(times)):
            at = ids.nominal_at(row.id)
            is_own = but is not None and ids.backfill_of(row.id) == but.id
            if at in requested and not is_own and not ids.is_manual_run(row.id) and row.status in _RAN:
                found[at] = min(row.status, found.get(at, row.status), key=_RAN.index)
        unknown = {at for at in requested - found.keys() if self._is_forgotten(at)}
        return {
            at: found[at].value if at in found else FORGOTTEN for at in times if at in found or at in unknown
        }

    def _rows(self, first: datetime, last: datetime) -> Iterator[Action]:
        for number in sorted(self._numbers(first, last)):
            cursor = None
            while True:
                page = self._actions.occurrences(
                    self._job.ref.tenant_id,
                    self._job.name,
                    number,
                    after=first - _LEAST,
                    until=last,
                    limit=_PAGE,
                    cursor=cursor,
                )
                yield from page
                if (cursor := page.cursor) is None:
                    break

    def _numbers(self, first: datetime, last: datetime) -> set[int]:
        """Return the versions that may have rows in a range: in force then, or of a backfill."""
        planned = {
            version.number
            for version in self._versions
            if version.since - _SLACK < last and (version.until is None or first < version.until + _SLACK)
        }
        return planned | {found.version for found in self._backfills if found.overlaps(first, last + _LEAST)}

    def _is_forgotten(self, at: datetime) -> bool:
        """Return whether a time without a row was planned, and its row may have been removed."""
        if at > self._known_since or at <= self._job.anchor:
            return False
        version = next((version for version in self._versions if _was_in_force(version, at)), None)
        if version is None:
            return True
        names = self._job.cadences_of(version.definition).names_at(at)
        return any(not self._has_span(at, name) for name in names)

    def _has_span(self, at: datetime, cadence: str) -> bool:
        return any(
            span.start < at <= span.end and span.cadence in {WHOLE_JOB, cadence} for span in self._spans
        )

    @lazy_property
    def _versions(self) -> Sequence[Version]:
        return self._jobs.versions(self._job.ref)

    @lazy_property
    def _backfills(self) -> Sequence[Backfill]:
        return self._jobs.backfills(self._job.ref)

    @lazy_property
    def _spans(self) -> Sequence[JobSpan]:
        return self._jobs.spans(self._job.ref, self._job.anchor, self._known_since)


def _was_in_force(version: Version, at: datetime) -> bool:
    return version.since < at and (version.until is None or at <= version.until)
