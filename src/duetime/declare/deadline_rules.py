"""The rules for a job's deadline, and for the longest time without a success. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise, takewhile
from typing import TYPE_CHECKING

from duetime.declare.timed_cadences import timed
from duetime.model.cadence_set import CadenceSet, DueTime
from duetime.model.deadline import deadline_at, wall_seconds
from duetime.model.job import Definition

if TYPE_CHECKING:
    from duetime.cadence import Cadence

LONGEST = timedelta(days=31)
"""The longest time from a nominal time to its deadline."""

LONGEST_SILENCE, SHORTEST_SILENCE = timedelta(days=366), timedelta(minutes=1)

_SAMPLE_START = datetime(2027, 1, 1, tzinfo=UTC)
_SAMPLE_END = _SAMPLE_START + timedelta(days=800)
_SAMPLED = 400
"""The nominal times from which the longest time between two is read."""


def deadline_refusals(definition: Definition, cadences: Sequence[Cadence]) -> Iterator[str]:
    """Return the problems of a definition with a deadline or a longest silence, each with a remedy."""
    times = timed(cadences)
    found = CadenceSet.anchored(times, _SAMPLE_START).after(_SAMPLE_START)
    sample = list(islice(takewhile(lambda due: due.at < _SAMPLE_END, found), _SAMPLED))
    longest = max((after.at - before.at for before, after in pairwise(sample)), default=None)
    if definition.deadline is not None and definition.within is not None:
        yield "deadline and within are both given; use one of them"
    elif definition.has_deadline and not times:
        field = "within" if definition.deadline is None else "deadline"
        yield (
            f"{field} is given, but no cadence has times: a deadline belongs to a nominal time;"
            ' use every_success_within=timedelta(hours=26), or add a cadence such as daily("03:00")'
        )
    elif definition.within is not None:
        yield from _within(definition.within, longest)
    elif definition.deadline is not None:
        yield from _wall(definition, times, sample, longest)
    if definition.every_success_within is not None:
        yield from _silence(definition.every_success_within, cadences, longest)


def _within(seconds: int, longest: timedelta | None) -> Iterator[str]:
    most, span = min(longest or LONGEST, LONGEST), _span(seconds)
    if not timedelta(0) < span <= most:
        why = ", the longest time to the next nominal time" if most == longest else ""
        yield f"within is {span}; allowed is a second to {most}{why}"


def _wall(
    definition: Definition, times: Sequence[Cadence], sample: Sequence[DueTime], longest: timedelta | None
) -> Iterator[str]:
    text = definition.deadline or ""
    try:
        wall_seconds(text)
    except (ValueError, TypeError):
        yield f'deadline is {definition.deadline!r}; use a wall time such as "06:00"'
        return
    zones = {cadence.name: cadence.tz for cadence in times}
    for due in sample:
        at = deadline_at(definition, due.at, zones[due.cadences[0]])
        if at is not None and at - due.at > (longest or LONGEST):
            yield (
                f"the deadline {text} of the nominal time {due.at:%Y-%m-%dT%H:%M:%SZ} would be"
                f" {at:%Y-%m-%dT%H:%M:%SZ}, after the next nominal time;"
                " use within=timedelta(…), or another time"
            )
            return
    if any(_wall_of(due, zones) == wall_seconds(text) for due in sample):
        yield f"the deadline {text} is a nominal time itself; use a later one"


def _wall_of(due: DueTime, zones: dict[str, str]) -> int:
    from zoneinfo import ZoneInfo  # noqa: PLC0415 - few jobs need it

    local = due.at.astimezone(ZoneInfo(zones[due.cadences[0]]))
    return (local.hour * 60 + local.minute) * 60 + local.second


def _silence(seconds: int, cadences: Sequence[Cadence], longest: timedelta | None) -> Iterator[str]:
    from duetime.cadence.triggers import OnEvent  # noqa: PLC0415 - few jobs need it

    span = _span(seconds)
    if not SHORTEST_SILENCE <= span <= LONGEST_SILENCE:
        yield f"every_success_within is {span}; allowed is {SHORTEST_SILENCE} to {LONGEST_SILENCE}"
    elif longest is not None and span <= longest:
        yield (
            f"every_success_within is {span}, but {longest} may pass from one nominal time to the next;"
            " use more than that"
        )
    if any(isinstance(cadence, OnEvent) and cadence.tenant for cadence in cadences):
        yield "every_success_within is given, but an event's runs belong to its tenant; remove it"


def _span(seconds: int) -> timedelta:
    try:
        return timedelta(seconds=seconds)
    except OverflowError:
        return timedelta.max
