"""The cadences that have times of their own, unlike those that wait for an event or a caller. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # imported where a job is declared: an app without jobs loads no cadence
    from duetime.cadence import Cadence


def timed(cadences: Iterable[Cadence]) -> tuple[Cadence, ...]:
    """Return the cadences that have times, in the same order."""
    from duetime.cadence.triggers import TriggerCadence  # noqa: PLC0415 - see above

    return tuple(cadence for cadence in cadences if not isinstance(cadence, TriggerCadence))


def has_times(cadences: Iterable[Cadence]) -> bool:
    """Return whether a cadence has times, besides events and manual runs."""
    return bool(timed(cadences))
