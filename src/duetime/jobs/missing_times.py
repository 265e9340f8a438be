"""The nominal times of a job that have no row, after rows may have been lost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from itertools import islice

from duetime import ids
from duetime.model.job import Job, Version
from duetime.ports.action_store import ActionStore

_MOST_TIMES = 10_000
_PAGE = 100


def times_without_rows(
    job: Job,
    actions: ActionStore,
    start: datetime,
    until: datetime,
    versions: Sequence[Version] = (),
) -> AbstractSet[datetime]:
    """Return the nominal times after `start` and until `until` without a row of this or a recent version.

    The times of former versions count, too, if `versions` has them.
    """
    if not job.is_live or job.definition.self_scheduled:
        return frozenset()
    times = {due.at for due in islice(job.cadence_set.between(max(start, job.since), until), _MOST_TIMES)}
    for former in versions:
        if former.until is not None:
            times |= set(_times_of(former, job, start, min(until, former.until)))
    if not times:
        return frozenset()
    for version in (job.version, *(number for number, end in job.ends.items() if end > start)):
        times -= _with_rows(job, version, actions, start, until)
    return times


def _times_of(version: Version, job: Job, start: datetime, until: datetime) -> Iterator[datetime]:
    cadences = job.cadences_of(version.definition)
    dues = () if version.definition.self_scheduled else cadences.between(max(start, version.since), until)
    return (due.at for due in islice(dues, _MOST_TIMES))


def _with_rows(
    job: Job, version: int, actions: ActionStore, start: datetime, until: datetime
) -> AbstractSet[datetime]:
    found, cursor = set[datetime](), None
    while True:
        page = actions.occurrences(
            job.ref.tenant_id, job.name, version, after=start, until=until, limit=_PAGE, cursor=cursor
        )
        found |= {ids.nominal_at(row.id) for row in page if not ids.is_beside_plan(row.id)}
        cursor = page.cursor
        if cursor is None:
            return found
