"""The deadline of a job's nominal time, and its state. Pure.

A time that an operator or a change excused has none: it was paused, skipped on request, removed, or belongs
to an ended version.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime

from duetime import ids
from duetime.jobs.occurrence_status import Occurrence, OccurrenceStatus
from duetime.model.action import SkipReason
from duetime.model.deadline import DeadlineState, deadline_at, state_at
from duetime.model.job import Definition

EXCUSES = frozenset({SkipReason.PAUSED, SkipReason.DISABLED, SkipReason.RETIRED, SkipReason.REQUESTED})
"""The reasons for which a skipped time is not reported: a person decided it."""

_NO_TIME = frozenset({OccurrenceStatus.CALENDAR, OccurrenceStatus.GAP, OccurrenceStatus.FORGOTTEN})


def with_deadline(
    entry: Occurrence, definition: Definition, now: datetime, at_risk: Collection[datetime] = ()
) -> Occurrence:
    """Return an occurrence with its deadline and the deadline's state.

    Args:
        entry: the occurrence; a fold of several stays as it is.
        definition: the job's present one, which decides.
        now: the present time.
        at_risk: the nominal times that were reported before their deadline.
    """
    is_beside = entry.action_id is not None and ids.is_beside_plan(entry.action_id)
    is_excused = (
        is_beside
        or entry.account in _NO_TIME
        or (entry.account is OccurrenceStatus.SKIPPED and entry.reason in EXCUSES)
    )
    if entry.until is not None or is_excused or not definition.has_deadline:
        return entry
    deadline = deadline_at(definition, entry.at, entry.tz)
    if deadline is None:
        return entry
    state = state_at(deadline, entry.executed_at, now)
    if state is DeadlineState.OPEN and entry.at in at_risk:
        state = DeadlineState.AT_RISK
    return replace(entry, deadline_at=deadline, deadline=state.value)
