"""The price of a job: how often it runs, and what its runs cost a month."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import islice

from duetime.declare.timed_cadences import has_times
from duetime.instant import floor
from duetime.model.built_in import RESERVED
from duetime.model.cadence_set import CadenceSet
from duetime.model.job import Job

_YEAR, _DAY = timedelta(days=365), timedelta(days=1)
_MOST = 1_000
"""The most runs from which the runs a day are computed."""

_KNOWN = 5_000
"""How many cadences' frequencies a process of the API remembers."""


@dataclass(frozen=True, slots=True)
class JobPrice:
    """How often a job runs on average over a year, and what that costs; None if only events start it."""

    runs_per_day: float | None
    dollars_per_month: float | None


def price_of(job: Job, now: datetime) -> JobPrice:
    """Return the price of a job, as if it were not paused; none of a removed one, or of duetime's own."""
    is_priced = job.removed_at is None and not job.name.startswith(RESERVED)
    runs = None if not is_priced else _runs_per_day(job.cadence_set, floor(now, _DAY))
    if runs is None:
        return JobPrice(None, None)
    return JobPrice(runs, _dollars(runs, len((job.definition.payload or "").encode())))


@lru_cache(_KNOWN)
def _runs_per_day(cadences: CadenceSet, day: datetime) -> float | None:
    """Return the average over a year, or over the first runs if it has many; None without times."""
    if not has_times(cadences.cadences):
        return None
    times = [due.at for due in islice(cadences.between(day, day + _YEAR), _MOST)]
    if len(times) < _MOST:
        return len(times) / (_YEAR / _DAY)
    return (_MOST - 1) / ((times[-1] - times[0]) / _DAY)


@lru_cache(_KNOWN)
def _dollars(runs_per_day: float, payload_bytes: int) -> float:
    from duetime.cost.of_job import dollars_of_job  # noqa: PLC0415 - most routes need no prices

    return dollars_of_job(runs_per_day, payload_bytes)
