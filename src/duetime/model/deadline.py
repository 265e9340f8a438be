"""Deadlines of jobs: until when a nominal time must have succeeded, and the reports of those that did not.

Facts only; `duetime.jobs.check_deadlines` looks at the runs. A **check** is a one-shot of the system with a
type of duetime's own. It is due first at half of the time to the deadline, and last just after the deadline.
A **report** (`duetime.model.deadline_report`) is written once for each nominal time and kind.
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256

from duetime import ids, instant
from duetime.cadence.zones import DAY, Zone, instant_at, seconds_of, zone
from duetime.ids import SEPARATOR, SYSTEM_TENANT
from duetime.model.action import Action
from duetime.model.built_in import DEADLINE
from duetime.model.cadence_set import CadenceSet, DueTime
from duetime.model.job import Definition, Job

_SHORT_WALL, _LONG_WALL = 5, 8
_AROUND = 16 * 3_600
"""Seconds on both sides of a wall time in which its instant lies, and at most one change of the clocks."""

_SECOND = timedelta(seconds=1)


class DeadlineState(StrEnum):
    """The state of a nominal time's deadline."""

    OPEN = "open"
    AT_RISK = "at_risk"
    """It is open, and the usual run time predicts a miss."""
    MET = "met"
    MISSED = "missed"


def wall_seconds(text: str) -> int:
    """Return the seconds since midnight of ``06:00`` or ``06:00:30``.

    Raises:
        ValueError: the text is no such time.
    """
    if len(text) not in {_SHORT_WALL, _LONG_WALL} or not text.isascii():
        raise ValueError(text)
    hours, minutes, seconds = map(int, (text + ":00" if len(text) == _SHORT_WALL else text).split(":"))
    if not (0 <= hours < 24 and 0 <= minutes < 60 and 0 <= seconds < 60):  # noqa: PLR2004 - of a clock
        raise ValueError(text)
    return (hours * 60 + minutes) * 60 + seconds


def deadline_at(definition: Definition, nominal_at: datetime, tz: str) -> datetime | None:
    """Return the deadline of a nominal time; None if the job has none.

    A wall time is the first instant after the nominal time at which the clocks of `tz` show it, today or
    tomorrow. If they skip it, the deadline is the end of the gap.
    """
    if definition.within is not None:
        return nominal_at + timedelta(seconds=definition.within)
    if definition.deadline is None:
        return None
    place, after, wall = zone(tz), seconds_of(nominal_at), wall_seconds(definition.deadline)
    day = (after + place.span(after).offset) // DAY
    candidates = (at for local in range(day, day + 3) for at in _instants(place, local * DAY + wall))
    found = next((at for at in candidates if at > after), None)
    return None if found is None else instant_at(found)


def _instants(place: Zone, local: int) -> list[int]:
    """Return the instants at which a zone's clocks show a local second, or the end of its gap."""
    before, after = (place.span(local + shift).offset for shift in (-_AROUND, _AROUND))
    shown = sorted(
        {local - offset for offset in (before, after) if place.span(local - offset).offset == offset}
    )
    return shown or [place.span(local - before).start]


def deadline_of(job: Job, due: DueTime, cadences: CadenceSet | None = None) -> datetime | None:
    """Return the deadline of one of the job's nominal times; a wall time is in its first cadence's zone."""
    named = (cadences or job.cadence_set).by_name
    return deadline_at(job.definition, due.at, named[due.cadences[0]].tz)


def first_look(nominal_at: datetime, deadline: datetime) -> datetime:
    """Return when a check looks first: at half of the time, by when most runs have succeeded."""
    return nominal_at + ((deadline - nominal_at) / 2) // _SECOND * _SECOND


def check_row(
    job: Job,
    due_at: datetime,
    due_shards: int,
    *,
    nominal_at: datetime | None,
    deadline: datetime | None = None,
) -> Action:
    """Return the row of a check; each planner makes the same row from the same arguments.

    Args:
        job: the job.
        due_at: when the check looks first.
        due_shards: the number of due shards.
        nominal_at: the nominal time; None to check the job's silence.
        deadline: the deadline of the nominal time.
    """
    fields = {
        "tenant_id": job.ref.tenant_id,
        "job": job.name,
        "nominal_at": _text(nominal_at),
        "deadline_at": _text(deadline),
    }
    named = SEPARATOR.join(
        [*(text or "" for text in fields.values()), "" if nominal_at else _text(due_at) or ""]
    )
    digest = sha256(named.encode()).digest()
    action_id = ids.new_action_id(job.anchor, lambda size: digest[:size])
    return Action(
        tenant_id=SYSTEM_TENANT,
        id=action_id,
        type=DEADLINE,
        due_at=due_at,
        due_shard=ids.due_shard_of(action_id, due_shards),
        created_by=ids.PLANNER,
        payload=json.dumps({name: text for name, text in fields.items() if text is not None}),
    )


def _text(at: datetime | None) -> str | None:
    return None if at is None else instant.text(at)


def state_at(deadline: datetime, executed_at: datetime | None, now: datetime) -> DeadlineState:
    """Return the state of a deadline, of a run that ended as executed at `executed_at`, or has not."""
    if executed_at is not None:
        return DeadlineState.MET if executed_at <= deadline else DeadlineState.MISSED
    return DeadlineState.OPEN if now <= deadline else DeadlineState.MISSED
