"""The metrics: what is counted and measured, by name and unit. Facts only; `meter` is what steps tell them to."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

NAMESPACE = "duetime"
"""Where CloudWatch keeps them."""


class Unit(StrEnum):
    """CloudWatch's words for units."""

    COUNT = "Count"
    MILLISECONDS = "Milliseconds"
    SECONDS = "Seconds"


class Metric(StrEnum):
    """What is counted, then what is measured."""

    SCHEDULED = "scheduled"
    """An action was put, an occurrence was planned."""
    RESCHEDULED = "rescheduled"
    """A pending action got another due time."""
    REDRIVEN = "redriven"
    """A failed action is pending again, because somebody asked for it."""
    CANCELLED = "cancelled"
    SKIPPED = "skipped"
    """An occurrence will not run, for whatever reason."""
    MISSED = "missed"
    """An occurrence could not be claimed within its job's grace; or a span of nominal times could not be planned within
    it, which counts as one."""
    EXECUTED = "executed"
    FAILED = "failed"
    RETRIED = "retried"
    """An attempt failed, and another follows."""
    RECOVERED = "recovered"
    """A run was taken over from a dead worker."""
    CATCH_UP_SENT = "catch_up_sent"
    """The catch-up sent an action again."""
    UNDELIVERED = "undelivered"
    """Salvage kept something that was given up."""

    LATENESS = "lateness"
    """From an attempt's due time to its start, never negative."""
    RUN_TIME = "run_time"
    """From an attempt's start to its end."""
    ATTEMPTS = "attempts"
    """How many attempts an action that a run settled has had."""
    OLDEST_DUE_AGE = "oldest_due_age"
    """How overdue the oldest row is that a pass found overdue and not running; 0 if it found none."""

    @property
    def unit(self) -> Unit:
        """What its values are numbers of."""
        return _MEASURED.get(self, Unit.COUNT)

    @property
    def is_counter(self) -> bool:
        """Whether its values are added up; of the others each tells by itself."""
        return self not in _MEASURED


_MEASURED: Mapping[Metric, Unit] = MappingProxyType(
    {
        Metric.LATENESS: Unit.MILLISECONDS,
        Metric.RUN_TIME: Unit.MILLISECONDS,
        Metric.ATTEMPTS: Unit.COUNT,
        Metric.OLDEST_DUE_AGE: Unit.SECONDS,
    }
)
