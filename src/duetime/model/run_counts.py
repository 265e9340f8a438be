"""Counts of ended runs by minute, for the summary of the last hours. Facts only.

``publish`` derives them from the tables' streams, so no write of an action waits for them. It sees each run
of a job. Of one-shots it sees failures and cancels; with ``events="all"`` it sees each of them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Literal

from duetime.ids import TenantId
from duetime.model.action import Action, Ending, Status, Trigger
from duetime.model.built_in import is_counted
from duetime.model.change import Change

Kind = Literal["job", "type"]
"""Whether a count is one of a job's runs, or of the one-shots of a payload type."""

LATENESS_BOUNDS = tuple(timedelta(seconds=seconds) for seconds in (0.1, 1, 10, 60, 600))
"""The upper bounds of the buckets of lateness; the last bucket has none."""


class CountedEnding(StrEnum):
    """How a run ended."""

    EXECUTED = "executed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    SKIPPED = "skipped"
    RETRIED = "retried"
    """It failed, and another attempt follows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCount:
    """One ended run."""

    tenant_id: TenantId
    kind: Kind
    name: str
    """The job, or the payload type."""
    at: datetime
    """When its end was written."""
    ending: CountedEnding
    lateness: int | None
    """The bucket of the first attempt's lateness; None if the run may rightly begin later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MinuteCounts:
    """The runs of a job or a type that ended within a minute."""

    tenant_id: TenantId
    kind: Kind
    name: str
    minute: datetime
    endings: Mapping[CountedEnding, int]
    lateness: Sequence[int]
    """The count of each bucket."""


def count_of(change: Change, at: datetime) -> RunCount | None:
    """Return the run that a change ended; None if it ended none, or if the run is a canary or a probe."""
    row = change.new
    if row is None or not is_counted(row):
        return None
    ending = _ending(change.old, row)
    if ending is None:
        return None
    return RunCount(
        tenant_id=row.tenant_id,
        kind="job" if row.job else "type",
        name=row.job or row.type,
        at=at,
        ending=ending,
        lateness=None if ending is CountedEnding.RETRIED else _lateness(row),
    )


def _ending(old: Action | None, new: Action) -> CountedEnding | None:
    if new.status.is_final:
        is_end = old is None or old.status is not new.status
        return CountedEnding(new.status.value) if is_end else None
    has_stumbled = old is not None and old.status is Status.PROCESSING and new.is_retrying
    return CountedEnding.RETRIED if has_stumbled else None


def _lateness(row: Action) -> int | None:
    """Return the bucket of a run's lateness; None if it waited for a slot or was redriven.

    A run that catches up a missed time, or runs it in a backfill, has none either.
    """
    numbered = row.numbered_attempts()
    if not numbered or numbered[0][0] != 1 or row.concurrency is not None or row.redriven_after:
        return None
    if row.waits_for is not None:  # the run of another job came later
        return None
    first = row.attempts[0]
    if row.trigger in {Trigger.CATCH_UP, Trigger.BACKFILL} or first.ending is Ending.CANCELLED:
        return None
    return bisect_left(LATENESS_BOUNDS, first.started_at - row.nominal_at)
